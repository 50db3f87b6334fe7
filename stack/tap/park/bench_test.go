package park

import (
	"testing"

	"penstock/stack/tap/rows"
)

const million = 1 << 20

// scattered numbers clients so that neighbours lie anywhere.
func scattered(i uint32) uint32 { return i * 0x9e3779b1 % million }

func BenchmarkFind(b *testing.B) {
	t, i := New(2*million, 1), uint32(0)
	fill(b, t, key4, million)
	b.ResetTimer()
	for b.Loop() {
		i++
		k := key4(scattered(i))
		t.Find(&k)
	}
}

func BenchmarkMiss(b *testing.B) {
	t, i := New(2*million, 1), uint32(0)
	fill(b, t, key4, million)
	b.ResetTimer()
	for b.Loop() {
		i++
		k := key4(million + scattered(i))
		t.Find(&k)
	}
}

// The life of a handshake that is not found, added, repeated once and freed,
// with a million others there.
func BenchmarkLife(b *testing.B) {
	for name, key := range map[string]func(uint32) Key{"IPv4": key4, "IPv6": key6} {
		b.Run(name, func(b *testing.B) {
			t, n := New(2*million, 1), uint32(0)
			fill(b, t, key, million)
			s := linux(1, 1)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				n++
				k := key(million + scattered(n))
				if t.Find(&k) != 0 {
					b.Fatal("found")
				}
				i, _ := t.Add(&k, &s, 1, 0)
				t.Repeat(t.Find(&k), &s, 1, second)
				t.Syn(i, 2*second)
				t.Free(i)
			}
		})
	}
}

// Growth included: no call has to wait for others to be hashed anew.
func BenchmarkFill(b *testing.B) {
	t, n := New(1<<26, 1), uint32(0)
	s := linux(1, 1)
	for b.Loop() {
		k := key4(n)
		n++
		t.Add(&k, &s, 1, 0)
	}
}

// One walk through a million records: when none can be due, and when all must
// be looked at and none is.
func BenchmarkWalk(b *testing.B) {
	t := New(million, 1)
	fill(b, t, key4, million)
	walk := func(now int64) {
		for !t.Silent(now, 8192, func(uint32) { b.Fatal("silent") }) {
		}
	}
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			walk(second)
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for row := uint32(0); row < million; row += rows.Len {
				t.records.Due(row+1, 0)
			}
			walk(second)
		}
	})
}

func BenchmarkCookie(b *testing.B) {
	c := NewCookie(secret)
	k, s := key4(1), linux(5, 5)
	iss, tsval := c.Issue(&k, &s, noon)
	b.Run("issue", func(b *testing.B) {
		for b.Loop() {
			c.Issue(&k, &s, noon)
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			c.Check(&k, s.Seq, iss, echo(&s, tsval), 100, noon)
		}
	})
}

func BenchmarkShares(b *testing.B) {
	s, n := NewShares(1), uint32(0)
	for b.Loop() {
		n++
		a := addr4(scattered(n) << 8)
		if s.Take(&a, 10) {
			s.Give(&a)
		}
	}
}
