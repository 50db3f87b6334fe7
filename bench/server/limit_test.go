package server

import (
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"penstock/bench/sock"
	"penstock/bench/span"
)

// The limit is broken on purpose: the server is asked directly.
func TestOvershootsExactly(t *testing.T) {
	const limit, more = 3, 4
	r := start(t, Config{Listen: []netip.AddrPort{anyPort, anyPort}, Limit: limit, Request: 8, Response: 8})
	var times []int64
	var conns []net.Conn
	for i := range limit + more {
		before := r.clock.Now() - r.began
		conns = append(conns, r.dial(0))
		r.untilAccepted(int64(i + 1))
		if times = append(times, before, r.clock.Now()-r.began); i < limit {
			times = nil
		}
	}
	for range limit {
		r.dial(1) // at its limit, not above
	}
	r.untilAccepted(2*limit + more)
	for _, c := range conns {
		c.Close()
	}
	r.untilOpen(limit)
	r.dial(0) // far below again
	r.untilOpen(limit + 1)

	sum := r.end()
	m := sum.Members[0]
	if m.Limit != limit || m.MaxOpen != limit+more || m.Overshoots != more || len(m.First) != more {
		t.Fatalf("%+v", m)
	}
	for i, o := range m.First {
		if o.Open != int64(limit+1+i) || o.At < times[2*i] || o.At > times[2*i+1] {
			t.Errorf("overshoot %d: %+v, not between %v", i, o, times[2*i:2*i+2])
		}
	}
	if m := sum.Members[1]; m.Overshoots != 0 || m.MaxOpen != limit || m.First != nil {
		t.Errorf("the other member: %+v", m)
	}
}

func TestFirstOvershootsOnly(t *testing.T) {
	r := start(t, Config{Limit: 1, Request: 8, Response: 8})
	for range 1 + mostFirst + 20 {
		r.dial(0)
	}
	r.untilOpen(1 + mostFirst + 20)
	if m := r.end().Members[0]; m.Overshoots != mostFirst+20 || len(m.First) != mostFirst || m.First[0].Open != 2 {
		t.Errorf("%d overshoots, %d with times", m.Overshoots, len(m.First))
	}
}

// A client that closes first and then connects keeps the limit, in whatever
// order the server hears of it.
func TestNoFalseOvershoot(t *testing.T) {
	for name, c := range map[string]struct {
		rounds int
		delay  time.Duration
	}{"at once": {40_000, 0}, "delayed": {10_000, time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rounds := c.rounds
			if testing.Short() {
				rounds /= 10
			}
			r := start(t, Config{Limit: 1, Request: 8, Response: 8, Delay: span.Always(c.delay)})
			p := newProber(t, r)
			for i := range rounds {
				p.pace(r, i)
				fd := p.connect(nil)
				if i%3 > 0 {
					sock.Send(fd, request(8, 1))
				}
				sock.Cut(fd) // by an end, so many would use up the ports
			}
			r.untilAccepted(int64(rounds))
			if m := r.end().Members[0]; m.Overshoots != 0 || m.MaxOpen != 1 {
				t.Errorf("%+v", m)
			}
		})
	}
}

// So with an end instead of a reset, and from several sources: their ports
// rest for a minute.
func TestNoFalseOvershootByEnds(t *testing.T) {
	r := start(t, Config{Limit: 1, Request: 8, Response: 8})
	p := newProber(t, r)
	const rounds = 8_000
	for i := range rounds {
		p.pace(r, i)
		from := sock.MakeAddress(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(i%4 + 1)}), 0))
		fd := p.connect(&from)
		if i%2 > 0 {
			sock.Send(fd, request(8, 1))
		}
		sock.Shut(fd)
	}
	r.untilAccepted(rounds)
	if m := r.end().Members[0]; m.Overshoots != 0 || m.MaxOpen != 1 {
		t.Errorf("%+v", m)
	}
}

// prober connects to a rig's first member, without what package net adds.
type prober struct {
	t    *testing.T
	to   sock.Address
	poll *sock.Poll
}

func newProber(t *testing.T, r *rig) *prober {
	t.Helper()
	poll, err := sock.NewPoll()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(poll.Close)
	return &prober{t, sock.MakeAddress(r.Addresses()[0]), poll}
}

// pace waits now and then, so that no connection finds the backlog full.
func (p *prober) pace(r *rig, i int) {
	if i%1000 == 0 {
		r.untilAccepted(int64(i))
	}
}

// connect returns a connection, which the caller closes.
func (p *prober) connect(from *sock.Address) int {
	fd := p.begin(from)
	p.connected()
	return fd
}

// begin sends a SYN.
func (p *prober) begin(from *sock.Address) int {
	fd, err := sock.Dial(from, &p.to)
	if err == nil {
		err = p.poll.Add(fd, fd)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return fd
}

// connected returns when the only connection that was begun is there.
func (p *prober) connected() {
	for {
		if ev := p.poll.WaitFor(time.Minute); len(ev) == 1 && ev[0].Events&sock.Writable != 0 {
			return
		}
	}
}

// A handover is from a slot's end to the next connection, if that was due
// before; what was before count is forgotten.
func TestHandover(t *testing.T) {
	r := start(t, Config{Limit: 2, Request: 8, Response: 8, Then: Close})
	now := func() int64 { return r.clock.Now() }
	turn := func(c net.Conn, due int64) {
		send(t, c, request(8, due))
		response(t, c, 8, due)
		over(t, c)
	}
	turn(r.dial(0), now())
	a, b := r.dial(0), r.dial(0)
	r.untilOpen(2)
	due := now()
	turn(a, due)         // frees a slot
	turn(r.dial(0), due) // takes it over, but that is forgotten; and frees it
	r.Count()
	turn(b, due)         // frees the other
	turn(r.dial(0), due) // takes over the first: counted
	late := now()
	turn(r.dial(0), late) // takes over the second, for which it did not wait
	if sum := r.end(); sum.Handover.Count() != 1 || sum.Wait.Count() != 3 || sum.Order.Tokens != 2 {
		t.Errorf("%d handovers, %d waits, %+v", sum.Handover.Count(), sum.Wait.Count(), sum.Order)
	}
}

func TestHandoverIsTimed(t *testing.T) {
	r := start(t, Config{Limit: 1, Request: 8, Response: 8, Then: Close})
	r.Count()
	c := r.dial(0)
	due := r.clock.Now()
	send(t, c, request(8, due))
	response(t, c, 8, due)
	over(t, c) // the server has counted it as over before it ends it
	freed := r.clock.Now()
	r.until("30 ms later", func() bool { return r.clock.Now() > freed+30e6 })
	least := r.clock.Now() - freed
	c = r.dial(0)
	send(t, c, request(8, due))
	response(t, c, 8, due)
	most := r.clock.Now() - due
	sum := r.end()
	got := int64(sum.Handover.Percentile(50) * 1000)
	if sum.Handover.Count() != 1 || got < least*99/100 || got > most*101/100 {
		t.Errorf("%d handovers of %d ns, not between %d and %d", sum.Handover.Count(), got, least, most)
	}
}

// A model of the guard: free are the times of freed slots, if all are in use or
// freed; nil otherwise.
func TestGuardAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 3
		g := newGuard(limit)
		open, now, saturated := []int{}, int64(0), false
		var free []int64
		for range 60 {
			now++
			if fd := int(now); len(open) < limit && rapid.Bool().Draw(t, "take") {
				if err := g.take(fd, now); err != nil {
					t.Fatal(err)
				}
				var want int64
				if len(free) > 0 {
					want, free = free[0], free[1:]
				}
				if got := g.succeed(); got != want {
					t.Fatalf("takes over a slot freed at %d, want %d", got, want)
				}
				open = append(open, fd)
				saturated = saturated || len(open) == limit
			} else if len(open) > 0 {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "release")
				g.release(open[i], now)
				open = slices.Delete(open, i, i+1)
				if saturated {
					free = append(free, now)
				}
			}
			if len(g.held) != len(open) || g.count != len(free) || g.overshoots != 0 {
				t.Fatalf("%+v, want %d open and %d freed", g, len(open), len(free))
			}
		}
	})
}

// The order of tokens is that of accept; the wait is counted from the token.
func TestOrderAndWait(t *testing.T) {
	r := start(t, Config{Request: 16, Response: 16, Fifo: 2 * time.Second})
	ask := func(token int64) {
		c := r.dial(0)
		send(t, c, request(16, token))
		response(t, c, 16, token)
		send(t, c, request(16, 1)) // the second request of a connection doesn't count
		response(t, c, 16, 1)
	}
	ask(1)
	r.Count()
	now := r.clock.Now()
	for _, ago := range []int64{5, 7, 4, 6, 3} {
		ask(now - ago*1e9)
	}
	longer := float64(r.clock.Now()-now) / 1e3 // than what they say, at most
	sum := r.end()
	if o := sum.Order; o.Tokens != 5 || o.Overtaken != 2 || o.Inversions != 3 || o.Places != 2 || o.Behind != 2e9 || o.Far != 0 {
		t.Errorf("%+v", o)
	}
	if p := sum.Wait.Percentile(50); sum.Wait.Count() != 5 || p < 4.99e6 || p > 1.01*(5e6+longer) {
		t.Errorf("%d waits, median %v µs", sum.Wait.Count(), p)
	}
}

// A connection that says its token late keeps its place.
func TestOrderIsOfAccept(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8})
	r.Count()
	a := r.dial(0)
	r.untilOpen(1)
	b := r.dial(0)
	send(t, b, request(8, 20))
	response(t, b, 8, 20)
	send(t, a, request(8, 10))
	response(t, a, 8, 10)
	if o := r.end().Order; o.Tokens != 2 || o.Overtaken != 0 {
		t.Errorf("%+v", o)
	}
}

// Open connections are sampled over time.
func TestOpenSeries(t *testing.T) {
	r := start(t, Config{Loops: 2, Request: 8, Response: 8})
	var conns []net.Conn
	for range 5 {
		conns = append(conns, r.dial(0))
	}
	r.untilOpen(5)
	until := r.clock.Now() + 1000e6
	r.until("sampled", func() bool { return r.clock.Now() > until })
	for _, c := range conns {
		for range 2 { // between two its loop has gone round, and looked
			send(t, c, request(8, 1))
			response(t, c, 8, 1)
		}
	}
	s := r.end().Open
	if at := s.At(until - 600e6); at != 5 {
		t.Errorf("%d open, want 5: %+v", at, s)
	}
}

// Many at once from several loops of the test: nothing is lost in the count.
func TestMany(t *testing.T) {
	r := start(t, Config{Listen: []netip.AddrPort{anyPort, anyPort}, Limit: 8, Request: 8, Response: 100, Then: Close, Delay: span.Always(100 * time.Microsecond)})
	const clients, each = 16, 200
	var working sync.WaitGroup
	for k := range clients { // 8 for each member: at the limit
		working.Go(func() {
			for i := range int64(each) {
				c, err := net.Dial("tcp", r.Addresses()[k%2].String())
				if err != nil {
					t.Error(err)
					return
				}
				send(t, c, request(8, i))
				if n, err := io.Copy(io.Discard, c); n != 100 || err != nil {
					t.Error(n, err)
				}
				c.Close()
			}
		})
	}
	working.Wait()
	for _, m := range r.end().Members {
		if m.Accepted != clients*each/2 || m.Open != 0 || m.Overshoots != 0 || m.MaxOpen > 8 || m.Ghosts != 0 || m.Resets != 0 {
			t.Errorf("%+v", m)
		}
	}
}

// Connections whose clients have closed their side hold their slots until they
// are answered, if the server is told so.
func TestHalfClosedHoldTheirSlots(t *testing.T) {
	for half, want := range map[bool]int64{true: 4, false: 0} {
		r := start(t, Config{Limit: 1, Request: 8, Response: 8, HalfClose: half, Delay: span.Always(time.Hour)})
		for range 5 {
			c := r.dial(0)
			send(t, c, request(8, 1))
			c.CloseWrite()
			r.until("the end is there", func() bool { return tcpState(t, c) == unix.BPF_TCP_FIN_WAIT2 })
		}
		r.untilAccepted(5)
		if m := r.end().Members[0]; m.Overshoots != want {
			t.Errorf("half-close %v: %d overshoots, want %d", half, m.Overshoots, want)
		}
	}
}

// A pause in which nobody waits is no hand-over, though no token says so.
func TestNoHandoverWithoutTokens(t *testing.T) {
	r := start(t, Config{Limit: 1, Request: 4, Response: 8, Then: Close})
	r.Count()
	for range 2 {
		c := r.dial(0)
		send(t, c, []byte("abcd"))
		io.Copy(io.Discard, c)
		r.untilOpen(0)
	}
	if n := r.end().Handover.Count(); n != 0 {
		t.Errorf("%d handovers", n)
	}
}

func tcpState(t *testing.T, c *net.TCPConn) (state uint8) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			state = info.State
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}
