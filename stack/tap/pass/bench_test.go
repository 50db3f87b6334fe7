package pass

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"penstock/stack/tap/device"
)

var sizes = []int{60, 1514, 65_000}

// A frame put and taken on one thread: what the copy and the rules cost.
func BenchmarkPutTake(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New(2, 1<<20, func(int) {})
			var h device.VNet
			frame := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				m.Put(0, 1, 0, &h, frame, nil)
				for m.Take(1, 64, func(int, uint8, *device.VNet, []byte) {}) {
				}
			}
		})
	}
}

// From one thread to another that never sleeps.
func BenchmarkAcross(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New(2, 1<<20, func(int) {})
			var h device.VNet
			var over atomic.Bool
			ended := make(chan struct{})
			go func() {
				for !over.Load() {
					m.Take(1, 64, func(int, uint8, *device.VNet, []byte) {})
				}
				close(ended)
			}()
			frame := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				for !m.Put(0, 1, 0, &h, frame, nil) {
					runtime.Gosched()
				}
			}
			over.Store(true)
			<-ended
		})
	}
}

// A turn in which nothing has come.
func BenchmarkNothing(b *testing.B) {
	m := New(64, 1<<20, func(int) {})
	f := func(int, uint8, *device.VNet, []byte) {}
	for b.Loop() {
		m.Take(1, 64, f)
	}
}
