package term

import (
	"runtime"
	"testing"
	"unsafe"

	"penstock/stack/tap/frame"
)

// What an idle connection takes is netstack's; ours adds little.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(conn{}); n > 160 {
		t.Errorf("a connection takes %d bytes", n)
	}
}

func TestIdleMemory(t *testing.T) {
	n := uint64(10000)
	if raceEnabled {
		n = 1000
	}
	r := newRig(t, Config{})
	heap := func() uint64 {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	clients := func(from int, f func(i int)) {
		for i := range int(n) {
			f(from + i)
		}
	}
	goroutines := runtime.NumGoroutine()
	before := heap()
	flows := make([]*flow, n)
	clients(0, func(i int) { flows[i] = r.client(uint16(1000 + i)); flows[i].synAck() })
	half := heap()
	clients(0, func(i int) { flows[i].send(frame.ACK) })
	for got := uint64(0); got < n; {
		got += uint64(len(r.events()))
	}
	full := heap()
	t.Logf("%d bytes half-open, %d accepted", (half-before)/n, (full-before)/n)
	if (full-before)/n > 6000 {
		t.Errorf("%d bytes each", (full-before)/n)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 0 {
		t.Errorf("%d goroutines more", more)
	}
	runtime.KeepAlive(flows)
}
