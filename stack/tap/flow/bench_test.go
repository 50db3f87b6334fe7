package flow

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/tap/rows"
	"penstock/stack/tap/track"
)

const million = 1 << 20

// scattered numbers flows so that neighbours lie anywhere.
func scattered(i, of uint32) uint32 { return i * 0x9e3779b1 % of }

// large asks for large pages around what a table makes.
func large(at, n uintptr) {
	const size = 2 << 20
	end := (at + n + size - 1) / size * size
	at = at / size * size
	unix.Syscall(unix.SYS_MADVISE, at, end-at, unix.MADV_HUGEPAGE)
}

// How long it takes to find a flow and count a segment of it: with few flows,
// which are all in a cache, and with a million, which are not.
func BenchmarkFind(b *testing.B)      { find(b, nil) }
func BenchmarkFindLarge(b *testing.B) { find(b, large) }

func find(b *testing.B, made rows.Made) {
	for _, n := range []uint32{1 << 10, million} {
		table := New(million, 1, made)
		fill(b, table, client4, via4, n)
		for name, f := range map[string]struct {
			key  func(uint32) Key
			find func(*Key) uint32
			side track.Side
		}{
			"client": {client4, table.FindClient, track.Client},
			"server": {via4, table.FindServer, track.Server},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				i := uint32(0)
				for b.Loop() {
					i++
					k := f.key(scattered(i, n))
					f.find(&k)
				}
			})
			b.Run(fmt.Sprintf("%s+count/%d", name, n), func(b *testing.B) {
				i := uint32(0)
				for b.Loop() {
					i++
					k := f.key(scattered(i, n))
					table.At(f.find(&k)).Count(f.side, 1500)
				}
			})
		}
	}
}

// A key that nobody has, with a million flows there.
func BenchmarkMiss(b *testing.B) {
	table := New(million, 1, nil)
	fill(b, table, client4, via4, million)
	i := uint32(0)
	for b.Loop() {
		i++
		k := client4(million + scattered(i, million))
		table.FindClient(&k)
	}
}

// The life of a flow without its segments, with a million others there.
func BenchmarkLife(b *testing.B) {
	table := New(2*million, 1, nil)
	fill(b, table, client4, server4, million)
	n := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		k := million + scattered(n, million)
		i, _ := table.Add(client4(k), server4(k))
		table.Free(i)
	}
}

// One walk through a million flows: when none can be due, and when all must be
// looked at and none is.
func BenchmarkWalk(b *testing.B) {
	table := New(million, 1, nil)
	fill(b, table, client4, server4, million)
	walk := func() {
		for !table.Walk(1, 8192, func(uint32) int64 { return 2 }) {
		}
	}
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			walk()
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for i := uint32(1); i <= million; i += 512 {
				table.Due(i, 0)
			}
			walk()
		}
	})
}
