package term

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// What the tests' clients and servers are.
var (
	serverMAC = frame.MAC{2, 0, 0, 0, 0, 1}
	clientMAC = frame.MAC{2, 0, 0, 0, 0, 2}
	server4   = netip.MustParseAddrPort("198.18.0.1:80")
	server6   = netip.MustParseAddrPort("[2001:db8::1]:80")
	client4   = netip.MustParseAddr("198.18.0.2")
	client6   = netip.MustParseAddr("2001:db8::2")
)

// oneHop is the table of hops of a link with one neighbour.
type oneHop struct{ mac frame.MAC }

func (h oneHop) To(*frame.Addr) (frame.MAC, bool) { return h.mac, true }

// packet is a frame on the wire.
type packet struct {
	vnet device.VNet
	b    []byte
}

// host is a Stack with a loop.
type host struct {
	*Stack
	t     testing.TB
	in    chan packet
	wake  chan struct{}
	tasks chan func()
	quit  chan struct{}
	done  sync.WaitGroup

	event func(Event)  // on the loop
	wakes atomic.Int64 // calls of Wake
}

// wire is a Link to another host.
type wire struct {
	atOnce
	to *host
	// strict does what a real device would: it cuts large frames, completes the
	// checksums, and has the other side verify them.
	strict bool
	// lose, if not nil, says which frames are lost.
	lose func(p packet) bool
	lost atomic.Int64
}

// atOnce is a Link that holds nothing back.
type atOnce struct{}

func (atOnce) Last() (*device.VNet, []byte) { return nil, nil }

// SendParts implements Link.
func (w *wire) SendParts(h *device.VNet, frags [][]byte) {
	p := packet{vnet: *h}
	for _, f := range frags {
		p.b = append(p.b, f...)
	}
	if !w.strict {
		w.pass(p)
		return
	}
	for _, p := range cut(p) {
		w.pass(p)
	}
}

func (w *wire) pass(p packet) sys.Errno {
	if w.lose != nil && w.lose(p) {
		w.lost.Add(1)
		return 0
	}
	select {
	case w.to.in <- p:
		return 0
	default:
		w.lost.Add(1)
		return unix.ENOBUFS
	}
}

// pair is a client and a server on one wire. Their Stacks are alike; the client's
// is used through netstack's own sockets.
type pair struct {
	t              testing.TB
	client, server *host
	up, down       *wire // client to server, and back
}

// setup is what a test wants of its pair.
type setup struct {
	strict bool
	knobs  Knobs
	mtu    int
	clock  tcpip.Clock
	queue  int // frames
	lose   func(p packet) bool
	filter func(*Segment) bool // the server's Outbound
}

func newPair(t testing.TB, u setup) *pair {
	if u.queue == 0 {
		u.queue = 4096
	}
	p := &pair{t: t, client: newHost(t, u.queue), server: newHost(t, u.queue)}
	p.up = &wire{to: p.server, strict: u.strict, lose: u.lose}
	p.down = &wire{to: p.client, strict: u.strict, lose: u.lose}
	c := Config{Link: p.up, Hops: oneHop{serverMAC}, MAC: clientMAC, MTU: u.mtu, Knobs: u.knobs, clock: u.clock}
	c.threads = true
	p.client.start(c)
	c.threads = false
	c.Link, c.Hops, c.MAC, c.Outbound = p.down, oneHop{clientMAC}, serverMAC, u.filter
	p.server.start(c)
	for _, a := range []netip.Addr{client4, client6} {
		p.client.do(func() {
			if err := p.client.AddAddress(a); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Cleanup(p.close)
	return p
}

func newHost(t testing.TB, queue int) *host {
	return &host{
		t: t, in: make(chan packet, queue), wake: make(chan struct{}, 1),
		tasks: make(chan func()), quit: make(chan struct{}), event: func(Event) {},
	}
}

func (h *host) start(c Config) {
	c.Wake = func() {
		h.wakes.Add(1)
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
	s, err := New(c)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Stack = s
	h.done.Add(1)
	go h.run()
}

func (h *host) run() {
	defer h.done.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case p := <-h.in:
			h.take(p)
			for range min(len(h.in), 64) {
				h.take(<-h.in)
			}
		case <-h.wake:
		case f := <-h.tasks:
			f()
		case <-h.quit:
			h.Free()
			return
		}
		for h.Events(64, func(e Event) { h.event(e) }) {
		}
		if due := h.Due(0); due != 0 {
			timer.Reset(time.Duration(due))
		}
	}
}

func (h *host) take(p packet) {
	head, tail := h.Room()
	copy(tail, p.b[copy(head, p.b):])
	h.InjectRoom(len(p.b), p.vnet.Flags != 0)
}

// do runs f on the host's loop.
func (h *host) do(f func()) {
	done := make(chan struct{})
	h.tasks <- func() {
		defer close(done)
		f()
	}
	<-done
}

// close ends the client first: its resets are nobody's business any more.
func (p *pair) close() {
	for _, h := range []*host{p.client, p.server} {
		close(h.quit)
		h.done.Wait()
	}
}

// listen opens a port of the server's.
func (p *pair) listen(at netip.AddrPort) {
	p.t.Helper()
	p.server.do(func() {
		if err := p.server.Listen(7, at); err != nil {
			p.t.Fatal(err)
		}
	})
}

// dial connects the client.
func (p *pair) dial(to netip.AddrPort) (*gonet.TCPConn, error) {
	from := client4
	if to.Addr().Is6() {
		from = client6
	}
	return p.dialFrom(netip.AddrPortFrom(from, 0), to)
}

func (p *pair) dialFrom(from, to netip.AddrPort) (*gonet.TCPConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a := frame.Addr(to.Addr().As16())
	return gonet.DialTCPWithBind(ctx, p.client.net, full(from), full(to), protocol(&a))
}

func full(at netip.AddrPort) tcpip.FullAddress {
	a := frame.Addr(at.Addr().As16())
	return tcpip.FullAddress{NIC: nic, Addr: address(&a), Port: at.Port()}
}

func (p *pair) mustDial(to netip.AddrPort) *gonet.TCPConn {
	p.t.Helper()
	c, err := p.dial(to)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// accepts has the server's accepted connections and later events sent to two
// channels.
func (p *pair) accepts() (accepted, ready chan Event) {
	accepted, ready = make(chan Event, 1<<16), make(chan Event, 1<<16)
	p.server.do(func() {
		p.server.event = func(e Event) {
			if e.Kind == Accepted {
				accepted <- e
			} else {
				ready <- e
			}
		}
	})
	return accepted, ready
}

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// await returns the next event of a channel.
func await(t testing.TB, c chan Event) Event {
	t.Helper()
	select {
	case e := <-c:
		return e
	case <-time.After(patience):
		t.Fatalf("nothing happened for %v", patience)
		panic("not reached")
	}
}

// until waits for a condition that no event tells of.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// socketPair returns a kernel socket to be used without waiting, and its peer.
func socketPair(t testing.TB) (fd int, peer net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	to := sys.NewAddress(ln.Addr().(*net.TCPAddr).AddrPort())
	fd, _ = sys.Dial(&to)
	if fd < 0 {
		t.Fatal("no socket")
	}
	peer, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	return fd, peer
}
