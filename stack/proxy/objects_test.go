package proxy

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/leak"
	"penstock/stack/proxyheader"
)

// change makes a change of the topology while the loops stand still.
func (r *rig) change(f func(d *dispatch.Dispatcher, now dispatch.Tick)) {
	r.t.Helper()
	r.isolated(func(now int64) {
		f(r.Dispatcher(), dispatch.Tick(now))
		r.Dispatcher().Changed(dispatch.Tick(now))
	})
}

// addMember adds a server to pool 0, on node 0.
func (r *rig) addMember(at netip.AddrPort, limit int64) (id int) {
	r.t.Helper()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		id = int(d.AddMember(now, dispatch.MemberConfig{Limit: limit, Depth: -1}))
		r.SetMember(id, 0, at)
		if n := r.MemberTotals(id); n != (Totals{}) {
			r.t.Errorf("member %d begins with %+v", id, n)
		}
	})
	return id
}

// removeMember removes a member, and returns how often it was dialled.
func (r *rig) removeMember(id int) (dials uint64) {
	r.t.Helper()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.RemoveMember(now, dispatch.MemberID(id))
		dials = r.MemberTotals(id).Connections
	})
	return dials
}

// forgotten waits until nothing that was removed is named any more.
func (r *rig) forgotten() {
	r.t.Helper()
	until(r.t, func() (all bool) {
		r.change(func(*dispatch.Dispatcher, dispatch.Tick) { all = r.Forget(nil) == 0 })
		return all
	}, "all that was removed is forgotten")
}

// addVirtual adds a virtual server of pool 0.
func (r *rig) addVirtual(v Virtual) (id int, at netip.AddrPort) {
	r.t.Helper()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		id = int(d.AddVirtual(dispatch.VirtualConfig{}))
		if err := r.Open(Opening{id, v}); err != nil {
			r.t.Error(err)
		}
		at = r.Listening(id).AddrPort
	})
	return id, at
}

func (r *rig) removeVirtual(id int) {
	r.t.Helper()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		r.CloseVirtual(id)
		d.RemoveVirtual(now, dispatch.VirtualID(id))
	})
	r.turn()
}

// turn returns when each loop has done a turn since the last isolation.
func (r *rig) turn() {
	r.t.Helper()
	r.isolated(func(int64) {})
}

func anyPort() Virtual { return Virtual{Listen: base().Virtuals[0].Listen} }

func wantRefused(t testing.TB, at netip.AddrPort) {
	t.Helper()
	c, err := net.DialTimeout("tcp", at.String(), patience)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connecting to %v: %v", at, err)
	}
}

// C61: a member comes and goes a thousand times while clients come. Once it is
// removed nobody dials it any more, and nobody who waited is lost.
func TestC61MemberComesAndGoes(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	a, b := brief(t), brief(t)
	r := start(t, member(a.addr(), 2), loops(4))
	stop := make(chan struct{})
	over := make(chan struct{}, 8)
	for range cap(over) {
		go func() {
			defer func() { over <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
					visit(t, r)
				}
			}
		}()
	}
	highest := 0
	for range rounds {
		id := r.addMember(b.addr(), 2)
		highest = max(highest, id)
		until(t, func() bool { return r.MemberTotals(id).Connections > 0 }, "the member is used")
		dials := r.removeMember(id)
		r.change(func(*dispatch.Dispatcher, dispatch.Tick) {
			if n := r.MemberTotals(id).Connections; n != dials {
				t.Errorf("dialled %d times, %d when it was removed", n, dials)
			}
			r.Forget(nil)
		})
	}
	close(stop)
	for range cap(over) {
		<-over
	}
	r.forgotten()
	if highest > 20 {
		t.Errorf("numbers up to %d were used for one member at a time", highest)
	}
	t.Logf("%d connections to the member that stays, %d to the other; numbers up to %d", a.accepted.Load(), b.accepted.Load(), highest)
}

// C58 at this level: whatever is changed elsewhere, who is connected counts,
// and who waits keeps its place.
func TestC58ChangesElsewhere(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	holder := r.dial()
	server := s.next(t)
	first, second := r.park(), r.park()
	other := 0
	for i, change := range []func(*dispatch.Dispatcher, dispatch.Tick){
		func(*dispatch.Dispatcher, dispatch.Tick) {},
		func(d *dispatch.Dispatcher, now dispatch.Tick) {
			other = int(d.AddVirtual(dispatch.VirtualConfig{Limit: 5}))
			if err := r.Open(Opening{other, anyPort()}); err != nil {
				t.Error(err)
			}
		},
		func(d *dispatch.Dispatcher, now dispatch.Tick) {
			d.SetVirtual(now, dispatch.VirtualID(other), dispatch.VirtualConfig{Limit: 7})
		},
	} {
		r.change(change)
		if r.parked() != 2 || r.inUse() != 1 {
			t.Errorf("after change %d: %d wait, %d slots in use", i, r.parked(), r.inUse())
		}
	}
	pass(t, holder, server)
	for _, next := range []*net.TCPConn{first, second} {
		s.none(t)
		leave(t, holder, server)
		server = s.next(t)
		pass(t, next, server)
		holder = next
	}
}

// A virtual server that is added serves; removed, it takes nobody, and who is
// there stays. Its number is used again when they have left, and counts from
// zero.
func TestVirtualComesAndGoes(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), loops(4))
	var was int
	for round := range 3 {
		id, at := r.addVirtual(anyPort())
		if round > 0 && id != was {
			t.Errorf("number %d, want %d again", id, was)
		}
		was = id
		if n := r.VirtualTotals(id); n != (Totals{}) {
			t.Errorf("begins with %+v", n)
		}
		if r.Listening(id).AddrPort != at {
			t.Errorf("listening on %v, want %v", r.Listening(id), at)
		}
		c := dialTo(t, at)
		server := s.next(t)
		pass(t, c, server)
		if n := r.VirtualTotals(id); n.Open != 1 || n.Connections != 1 || n.BytesUp != 4 {
			t.Errorf("%+v", n)
		}
		keep(t, at)
		r.removeVirtual(id)
		wantRefused(t, at)
		r.change(func(*dispatch.Dispatcher, dispatch.Tick) {
			if n := r.Forget(nil); n != 1 {
				t.Errorf("%d are named still, want 1", n)
			}
		})
		pass(t, c, server)
		leave(t, c, server)
		if e := r.wantEnd(Served); e.Virtual != id {
			t.Errorf("%+v", e)
		}
		r.forgotten()
		c = r.dial() // the other one is not touched
		c.Close()
		s.next(t).Close()
		r.end()
	}
}

// Who got through the handshake before a virtual server is removed is served,
// parked too.
func TestRemovedVirtualServesItsBacklog(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	id, at := r.addVirtual(anyPort())
	var clients []*net.TCPConn
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		for range 3 {
			clients = append(clients, dialTo(t, at))
		}
		r.untilQueued(id, len(clients))
		r.CloseVirtual(id)
		d.RemoveVirtual(now, dispatch.VirtualID(id))
	})
	var running sync.WaitGroup
	for _, c := range clients {
		running.Go(func() {
			wantEOF(t, c, "hello")
			c.Close()
		})
	}
	for range clients {
		server := s.next(t)
		write(t, server, "hello")
		server.Close()
	}
	running.Wait()
	r.forgotten()
}

// All listeners, or none.
func TestOpenFails(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0), loops(2))
	visit(t, r) // it runs
	until(t, func() bool { return r.Clients() == 0 }, "the visitor's descriptors free")
	taken := Virtual{Listen: kernel.Address{AddrPort: addrOf(listenPlain(t))}}
	before := leak.Descriptors()
	r.isolated(func(int64) {
		if err := r.Open(Opening{1, taken}); err == nil {
			t.Error("listens on an address that is in use")
		}
		if err := r.Open(Opening{1, anyPort()}); err != nil {
			t.Error(err)
		}
		defer r.CloseVirtual(1)
		defer limitDescriptors(t, 1)()
		if err := r.Open(Opening{2, anyPort()}); err == nil {
			t.Error("two listeners with one descriptor")
		}
		if err := r.Open(Opening{1, anyPort()}); err == nil {
			t.Error("moved with one descriptor")
		}
		for i, w := range r.workers {
			if len(w.loop.Listeners(2)) != 0 || len(w.loop.Listeners(1)) != 1 {
				t.Errorf("loop %d: %d listeners of one that failed, %d of one that did not move",
					i, len(w.loop.Listeners(2)), len(w.loop.Listeners(1)))
			}
		}
	})
	r.turn()
	if n := leak.Descriptors(); n > before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
	visit(t, r)
	r.Drain()
	r.isolated(func(int64) {
		if err := r.Open(Opening{1, anyPort()}); err != ErrDraining {
			t.Errorf("opened while draining: %v", err)
		}
	})
}

// limitDescriptors leaves so many descriptors, until the function that it
// returns is called.
func limitDescriptors(t *testing.T, left uint64) (undo func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	next, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(next)
	unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(next) + left, Max: was.Max})
	return func() { unix.Setrlimit(unix.RLIMIT_NOFILE, &was) }
}

// A virtual server moves to another address: its number, its counts and its
// clients stay.
func TestVirtualMoves(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	old := r.addr()
	keep(t, old)
	c := r.dial()
	server := s.next(t)
	r.isolated(func(int64) {
		if err := r.Open(Opening{0, anyPort()}); err != nil {
			t.Error(err)
		}
	})
	r.turn()
	if r.addr() == old {
		t.Fatalf("listens on %v still", old)
	}
	wantRefused(t, old)
	pass(t, c, server)
	r.dial()
	s.next(t)
	if n := r.VirtualTotals(0); n.Connections != 2 || n.Open != 2 {
		t.Errorf("%+v", n)
	}
}

// Rules of a virtual server and its pool that change are in force for those
// that are there.
func TestSettingsChange(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	c := r.dial()
	server := s.next(t)
	pass(t, c, server)
	waiter := r.park()
	r.isolated(func(int64) {
		v := r.virtuals[0]
		v.IdleTimeout = 50 * time.Millisecond
		r.SetVirtual(0, v)
		r.SetPool(0, Pool{ConnectTimeout: never, SendProxy: proxyheader.V1})
	})
	begun := time.Now()
	r.wantEnd(Idle)
	soon(t, begun, "the end of an idle connection")
	wantBytes(t, s.next(t), string(proxyheader.AppendV1(nil, addrPort(waiter.LocalAddr()), r.addr())))
	r.wantEnd(Idle)
}

// Readers of the counts don't mind what comes and goes.
func TestTotalsWhileChanging(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			id := r.addMember(s.addr(), 0)
			visit(t, r)
			r.removeMember(id)
			v, _ := r.addVirtual(anyPort())
			r.removeVirtual(v)
			r.forgotten()
		}
	}()
	for seen := uint64(0); ; {
		for i := range 10 {
			r.MemberTotals(i)
			if n := r.VirtualTotals(i).Connections; i == 0 {
				if n < seen {
					t.Errorf("%d connections, %d before", n, seen)
				}
				seen = n
			}
		}
		select {
		case <-done:
			return
		default:
			runtime.Gosched() // there may be one processor
		}
	}
}

// A server is dialled by the rules of its own pool, though the virtual server
// was given another one meanwhile.
func TestDialKeepsTheRulesOfItsPool(t *testing.T) {
	s := hold(t)
	dropAll(t, s.ln)
	r := start(t, member(s.addr(), 0), pool(func(p *Pool) { p.SendProxy = proxyheader.V1 }))
	c := r.dial()
	r.untilInUse(1)
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		other := d.AddPool(dispatch.PoolConfig{Queue: true, Depth: -1})
		r.SetPool(int(other), Pool{ConnectTimeout: time.Millisecond})
		d.SetVirtual(now, 0, dispatch.VirtualConfig{Pool: other})
		v := r.virtuals[0]
		v.Pool = other
		r.SetVirtual(0, v)
	})
	withFD(t, s.ln, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) })
	wantBytes(t, s.next(t), string(proxyheader.AppendV1(nil, addrPort(c.LocalAddr()), r.addr())))
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) { // for the rig's sake
		d.SetVirtual(now, 0, dispatch.VirtualConfig{})
		d.RemovePool(now, 1)
	})
}
