package kernel

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

func TestTimers(t *testing.T) {
	type firing struct {
		id uint32
		at int64
	}
	fired := make(chan firing, 10)
	h := &handler{expired: func(id uint32, now int64) { fired <- firing{id, now} }}
	l := run(t, roomy(), h, nil)
	// Were the timer not moved forward, all would wait for this one.
	do(t, l, func() { l.StartTimer(6, Clock()+int64(time.Hour)) })
	var begun int64
	do(t, l, func() {
		begun = Clock()
		for i := uint32(5); i > 0; i-- { // the latest first
			l.StartTimer(i, begun+int64(i)*int64(20*time.Millisecond))
		}
		l.StopTimer(3)
		l.StartTimer(4, begun+int64(10*time.Millisecond))
	})
	for _, want := range []struct {
		id uint32
		ms int64
	}{{4, 10}, {1, 20}, {2, 40}, {5, 100}} {
		f := receive(t, fired)
		due := begun + want.ms*int64(time.Millisecond)
		if f.id != want.id || f.at < due { // late on a busy machine, never early
			t.Errorf("timer %d fired %v after its start; want timer %d at %d ms",
				f.id, time.Duration(f.at-begun), want.id, want.ms)
		}
	}
}

// What Turn asks for is kept, too: it is called again, and not early.
func TestTurnIsCalledWhenDue(t *testing.T) {
	var due int64
	at := make(chan int64, 1)
	h := &handler{turn: func(now int64) int64 {
		if due != 0 && now >= due {
			due = 0
			at <- now
		}
		return due
	}}
	l := run(t, roomy(), h, nil)
	var want int64
	do(t, l, func() { want = Clock() + int64(30*time.Millisecond); due = want })
	if now := receive(t, at); now < want {
		t.Errorf("called %v early", time.Duration(want-now))
	}
}

// A loop with nothing to do does nothing.
func TestIdleLoopSleeps(t *testing.T) {
	h := &handler{}
	l := run(t, roomy(), h, nil)
	do(t, l, func() {})
	before := h.turns.Load()
	time.Sleep(100 * time.Millisecond) // nothing is what is to happen
	if n := h.turns.Load() - before; n > 1 {
		t.Errorf("%d turns in 100 ms with nothing to do", n)
	}
}

func TestWakesCoalesce(t *testing.T) {
	h := &handler{}
	l := run(t, roomy(), h, nil)
	do(t, l, func() {
		for range 1000 {
			l.Wake()
		}
		h.turns.Store(0)
	})
	until(t, func() bool { return h.turns.Load() >= 2 }, "two turns: one of Do, one of Wake")
	do(t, l, func() {}) // behind whatever else there may be
	if n := h.turns.Load(); n > 3 {
		t.Errorf("%d turns for 1000 wake-ups in one go", n)
	}
	for range 1000 { // and none is lost
		before := h.turns.Load()
		l.Wake()
		until(t, func() bool { return h.turns.Load() > before }, "a turn after Wake")
	}
}

// What is put off is done once for all that was ready, and not before; and each time.
func TestLater(t *testing.T) {
	const sockets = 8
	var told atomic.Int64
	h, b, late := &handler{}, roomy(), make(chan int64, 100)
	l := run(t, b, h, nil)
	h.ready = func(_ uint32, r sys.Ready) {
		if r&sys.In != 0 {
			told.Add(1)
			l.Later()
		}
	}
	h.late = func() { late <- told.Load() }
	var fds []int
	var peers []*net.TCPConn
	for i := range uint32(sockets) {
		fd, peer := pair(t)
		fds, peers = append(fds, fd), append(peers, peer)
		b.dial()
		do(t, l, func() { l.Watch(fd, 1+i) })
		defer do(t, l, func() { l.Close(fd) })
	}
	for round := range int64(3) {
		do(t, l, func() { // the loop finds them all at once
			for i, p := range peers {
				if _, err := p.Write([]byte{1}); err != nil {
					t.Error(err)
				}
				until(t, func() bool { return unread(fds[i]) > int(round) }, "byte %d of socket %d", round, i)
			}
		})
		if n := receive(t, late); n != (round+1)*sockets {
			t.Errorf("round %d: late behind %d events, want %d", round, n-round*sockets, sockets)
		}
	}
	do(t, l, func() {})
	if len(late) > 0 {
		t.Errorf("late again, behind %d events", <-late)
	}
}

// Where the loop stood still, what came in time is told of before a timer says that it
// did not come.
func TestLateTimersLetOthersPass(t *testing.T) {
	const sockets = 8
	var told atomic.Int64
	h, b, fired := &handler{}, roomy(), make(chan int64, 100)
	h.ready = func(_ uint32, r sys.Ready) {
		if r&sys.In != 0 {
			told.Add(1)
		}
	}
	h.expired = func(uint32, int64) { fired <- told.Load() }
	l := run(t, b, h, nil)
	var fds []int
	var peers []*net.TCPConn
	for i := range uint32(sockets) {
		fd, peer := pair(t)
		fds, peers = append(fds, fd), append(peers, peer)
		b.dial()
		do(t, l, func() { l.Watch(fd, 1+i) })
		defer do(t, l, func() { l.Close(fd) })
	}
	for round := range int64(5) {
		do(t, l, func() {
			at := Clock() + int64(time.Millisecond)
			for i, p := range peers {
				l.Wake() // whose event comes before theirs
				l.StartTimer(1+uint32(i), at)
				if _, err := p.Write([]byte{1}); err != nil {
					t.Error(err)
				}
				until(t, func() bool { return unread(fds[i]) > int(round) }, "byte %d of socket %d", round, i)
			}
			time.Sleep(time.Duration(lateBy) * 2)
		})
		for range peers {
			if n := receive(t, fired); n != (round+1)*sockets {
				t.Errorf("round %d: a timer fired behind %d events, want %d", round, n-round*sockets, sockets)
			}
		}
	}
}

func TestDoKeepsOrder(t *testing.T) {
	l := run(t, roomy(), &handler{}, nil)
	var got []int
	for i := range 100 {
		l.Do(func() { got = append(got, i) })
	}
	do(t, l, func() {})
	if len(got) != 100 || !slices.IsSorted(got) {
		t.Errorf("%v", got)
	}
}

// A socket's events are edges, and both directions come by one registration.
func TestReadiness(t *testing.T) {
	events := make(chan sys.Ready, 10)
	h := &handler{ready: func(_ uint32, r sys.Ready) { events <- r }}
	b := roomy()
	l := run(t, b, h, nil)
	fd, peer := pair(t)
	want := func(r sys.Ready) {
		t.Helper()
		if got := receive(t, events); got != r {
			t.Errorf("event %05b, want %05b", got, r)
		}
	}
	do(t, l, func() {
		b.dial()
		if !l.Watch(fd, 1) {
			t.Error("not watched")
		}
	})
	want(sys.Out)
	peer.Write([]byte("x"))
	want(sys.In | sys.Out)
	do(t, l, func() {}) // not read, and yet no second event
	if len(events) != 0 {
		t.Error("an event without news")
	}
	peer.CloseWrite()
	want(sys.In | sys.Out | sys.Fin)
	peer.SetLinger(0)
	peer.Close()
	last := receive(t, events)
	for last == sys.In|sys.Out|sys.Fin { // an acknowledgement that made room is news, too
		last = receive(t, events)
	}
	if last != sys.In|sys.Out|sys.Fin|sys.Err {
		t.Errorf("event %05b behind a reset", last)
	}
	do(t, l, func() { l.Close(fd) })
	if b.Used() != 0 {
		t.Errorf("%d descriptors in use", b.Used())
	}
}

// A read stops at urgent data: short does not mean empty then.
func TestUrgentDataIsUnsure(t *testing.T) {
	events := make(chan sys.Ready, 10)
	h := &handler{ready: func(_ uint32, r sys.Ready) { events <- r }}
	b := roomy()
	l := run(t, b, h, nil)
	fd, peer := pair(t)
	do(t, l, func() { b.dial(); l.Watch(fd, 1) })
	receive(t, events)
	withFD(t, peer, func(fd int) error { return unix.Sendto(fd, []byte("!"), unix.MSG_OOB, nil) })
	for r := receive(t, events); r&sys.Unsure == 0; r = receive(t, events) {
	}
	do(t, l, func() { l.Close(fd) })
}

// Two sockets have events in one batch. The handler of whichever comes first
// closes the other, whose number goes to a new connection at once: the event
// that is left is about the old one, and must say that it may be.
func TestStaleEventIsUnsure(t *testing.T) {
	type event struct {
		ref uint32
		r   sys.Ready
	}
	const newcomer = 100
	var (
		b      = roomy()
		events = make(chan event, 10)
		fds    [3]int // by reference
		spare  int
		peers  [2]interface{ Write([]byte) (int, error) }
		l      *Loop
		armed  bool
	)
	h := &handler{ready: func(ref uint32, r sys.Ready) {
		events <- event{ref, r}
		if armed && ref != newcomer {
			armed = false
			other := fds[3-ref]
			l.Close(other)
			if err := unix.Dup3(spare, other, unix.O_CLOEXEC); err != nil {
				t.Error(err)
			}
			b.dial()
			l.Watch(other, newcomer)
		}
	}}
	l = run(t, b, h, nil)
	fds[1], peers[0] = pair(t)
	fds[2], peers[1] = pair(t)
	spare, peer := pair(t)
	defer unix.Close(spare)
	do(t, l, func() {
		for ref := uint32(1); ref <= 2; ref++ {
			b.dial()
			l.Watch(fds[ref], ref)
		}
	})
	receive(t, events) // both are writable
	receive(t, events)
	do(t, l, func() { // both become readable while the loop is busy
		armed = true
		peers[0].Write([]byte("x"))
		peers[1].Write([]byte("x"))
		until(t, func() bool { return unread(fds[1]) > 0 && unread(fds[2]) > 0 }, "both bytes")
	})
	first := receive(t, events)
	if first.ref == newcomer {
		t.Fatal("the newcomer's event came first")
	}
	if e := receive(t, events); e.ref != newcomer || e.r&sys.Unsure == 0 {
		t.Errorf("event %+v, want an unsure one of the newcomer", e)
	}
	sure := false
	peer.Write([]byte("y"))
	for !sure { // its own first event, then that of the byte
		e := receive(t, events)
		if e.ref != newcomer {
			t.Errorf("event %+v", e)
		}
		sure = e.r&sys.Unsure == 0 && e.r&sys.In != 0
	}
	do(t, l, func() { l.Close(fds[first.ref]); l.Close(fds[3-first.ref]) })
	if b.Used() != 0 {
		t.Errorf("%d descriptors in use", b.Used())
	}
}

// unread returns how many bytes have arrived at a socket.
func unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
