package persist

import (
	"sync/atomic"
	"testing"
)

const million = 1 << 20

// filled has a million records, in one generation or, if seam, half carried
// over from an older one.
func filled(seam bool) *Table {
	t := New(1, 32, 128, 180*second)
	for i := range uint32(million) {
		t.claim4(0, i, 1)
	}
	for len(t.list.Load().older) > 0 {
		t.drain(1)
	}
	if seam {
		l := t.list.Load()
		t.putInFront(l, 1)
		for l.newest.dry.Load() < l.newest.slots/2 {
			t.drain(1)
		}
	}
	return t
}

// scattered numbers sources so that neighbours lie anywhere.
func scattered(i uint32) uint32 { return i * 0x9e3779b1 % million }

func BenchmarkFind(b *testing.B) {
	for name, seam := range map[string]bool{"one": false, "seam": true} {
		b.Run(name, func(b *testing.B) {
			t, i := filled(seam), uint32(0)
			b.ResetTimer()
			for b.Loop() {
				i++
				t.find4(0, scattered(i))
			}
		})
	}
}

func BenchmarkMiss(b *testing.B) {
	t, i := filled(false), uint32(0)
	b.ResetTimer()
	for b.Loop() {
		i++
		t.find4(0, 1<<30+scattered(i))
	}
}

// The record is there, used a moment ago.
func BenchmarkClaim(b *testing.B) {
	t, i := filled(false), uint32(0)
	b.ResetTimer()
	for b.Loop() {
		i++
		t.claim4(0, scattered(i), 1)
	}
}

// Each source is new: growth, generations and draining included.
func BenchmarkClaimNew(b *testing.B) {
	t, i := New(1, 32, 128, 180*second), uint32(0)
	for b.Loop() {
		i++
		t.claim4(Tick(i)*second/10_000, i, 1)
	}
}

func BenchmarkParallel(b *testing.B) {
	t := filled(false)
	var start atomic.Uint32
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		i := start.Add(1) << 24
		for pb.Next() {
			i++
			t.claim4(Tick(i&0xffffff)*1000, scattered(i), 1)
		}
	})
}
