package proxy

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"penstock/stack/kernel"
)

// Virtual servers are opened together or not at all: while another one can't
// be, nobody gets through to one that could.
func TestOpenLeavesNoTrace(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0))
	taken := Virtual{Listen: kernel.Address{AddrPort: addrOf(listenPlain(t))}}
	free := Virtual{Listen: kernel.Address{AddrPort: refuser(t)}}
	stop := make(chan struct{})
	var tries atomic.Int64
	var trying sync.WaitGroup
	for range 2 {
		trying.Go(func() {
			for ; !closed(stop); tries.Add(1) {
				c, err := net.Dial("tcp", free.Listen.String())
				if err == nil {
					t.Error("connected to a virtual server that never was")
					c.Close()
					return
				}
			}
		})
	}
	for seen := int64(0); seen < 2000 && !t.Failed(); seen = tries.Load() {
		r.isolated(func(int64) {
			if err := r.Open(Opening{1, free}, Opening{2, taken}); err == nil {
				t.Error("listens on an address that is in use")
			}
		})
	}
	close(stop)
	trying.Wait()
}

// Listeners of virtual servers that come have their descriptors from the
// budget, and those of virtual servers that go are put back.
func TestListenersAreInTheBudget(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), loops(2), func(c *Config) { c.MaxDescriptors = 13 })
	most := func() int {
		_, n := r.Budget()
		return n
	}
	r.dial()
	s.next(t) // it runs
	id, _ := r.addVirtual(anyPort())
	second, _ := r.addVirtual(anyPort())
	if most() != 13-4 {
		t.Errorf("a budget of %d with two virtual servers more on two loops, want 9", most())
	}
	r.isolated(func(int64) {
		if err := r.Open(Opening{3, anyPort()}); err == nil || !strings.Contains(err.Error(), "RLIMIT_NOFILE") {
			t.Errorf("opened with too few descriptors: %v", err)
		}
	})
	r.removeVirtual(second)
	if most() != 13-2 {
		t.Errorf("a budget of %d with one less, want 11", most())
	}
	for range 3 { // of two descriptors each
		r.dial()
		s.next(t)
	}
	r.isolated(func(int64) {
		if err := r.Open(Opening{id, anyPort()}); err != nil { // it moves
			t.Error(err)
		}
		if err := r.Open(Opening{3, anyPort()}); err == nil {
			t.Error("opened with descriptors that connections have")
		}
	})
	r.turn()
	r.isolated(func(int64) { // fails later: nothing is lost
		if err := r.Open(Opening{3, Virtual{Listen: kernel.Address{AddrPort: addrOf(listenPlain(t))}}}); err == nil {
			t.Error("listens on an address that is in use")
		}
	})
	r.removeVirtual(id)
	if most() != 13 {
		t.Errorf("a budget of %d at the end, want 13", most())
	}
}
