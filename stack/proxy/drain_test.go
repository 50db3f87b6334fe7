package proxy

import (
	"net"
	"testing"
	"time"

	"penstock/stack/leak"
)

// C60: connected clients stay, parked ones are served as slots free, newcomers
// are refused, and the last one's end is told.
func TestC60Drain(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	keep(t, r.addr())
	holder := r.dial()
	server := s.next(t)
	waiter := r.park()
	drained := r.Drain()
	if !r.Draining() || r.Drain() != drained {
		t.Error("Drain is not what it was")
	}
	until(t, func() bool {
		c, err := net.Dial("tcp", r.addr().String())
		if err == nil {
			reset(c.(*net.TCPConn))
		}
		return err != nil
	}, "newcomers refused")
	pass(t, holder, server)
	leave(t, holder, server)
	server = s.next(t)
	pass(t, waiter, server)
	select {
	case <-drained:
		t.Error("drained, with a client connected")
	default:
	}
	leave(t, waiter, server)
	select {
	case <-drained:
	case <-time.After(patience):
		t.Error("not drained, and nobody is left")
	}
}

func TestCutWhileDialling(t *testing.T) {
	r := start(t, member(blackHole(t), 0))
	var clients []*net.TCPConn
	for range 10 {
		clients = append(clients, r.dial())
	}
	r.untilInUse(10)
	r.Drain()
	r.Cut()
	for _, c := range clients {
		wantReset(t, c, "")
	}
}

// A drain with nobody there is over at once, and so is one on an address that
// is in use.
func TestDrainIdle(t *testing.T) {
	r := start(t, member(refuser(t), 0), loops(4))
	select {
	case <-r.Drain():
	case <-time.After(patience):
		t.Error("not drained")
	}
}

func TestNewFails(t *testing.T) {
	before := leak.Descriptors()
	c := base()
	member(refuser(t), 0)(&c)
	c.Virtuals[0].Listen.AddrPort = addrOf(listenPlain(t))
	if p, err := New(c); err == nil {
		p.Close()
		t.Error("listens on an address that is in use")
	}
	if n := leak.Descriptors(); n > before+2 { // the two that the test opened
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

func TestCloseWithoutRun(t *testing.T) {
	before := leak.Descriptors()
	r := prepare(t, member(refuser(t), 0))
	r.Close()
	if n := leak.Descriptors(); n > before+1 {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

func listenPlain(t *testing.T) *net.TCPListener {
	ln := listen(t, "127.0.0.1:0")
	t.Cleanup(func() { ln.Close() })
	return ln
}

// MaxClients: the listener pauses, and goes on when one leaves.
func TestMaxClients(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(patience))
		write(t, c, "hello")
		c.Read(make([]byte, 1))
	})
	r := start(t, member(s.addr(), 0), func(c *Config) { c.MaxClients = 3 }, loops(2))
	var clients []*net.TCPConn
	for range 10 { // seven are connected to a backlog only
		clients = append(clients, r.dial())
	}
	until(t, func() bool { return s.now.Load() == 3 }, "3 clients at the server")
	greeted := make(chan int, len(clients))
	for i, c := range clients {
		go func() {
			wantBytes(t, c, "hello")
			greeted <- i
		}()
	}
	for range clients {
		select {
		case i := <-greeted:
			clients[i].Close()
		case <-time.After(patience):
			t.Fatalf("somebody waits in the backlog; %d clients", r.Clients())
		}
	}
	if n := s.most.Load(); n > 3 {
		t.Errorf("%d clients at once, want 3", n)
	}
}
