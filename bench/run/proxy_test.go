package run

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/peer"
)

// fault is what a proxy of these tests does wrong.
type fault string

const (
	right   fault = "right"   // nothing: the oldest client is next, to one server with a limit
	greedy  fault = "greedy"  // one connection more than the limit
	newest  fault = "newest"  // who came last is next
	drops   fault = "drops"   // some clients are closed, and some forgotten
	late    fault = "late"    // some responses are held back
	mortal  fault = "mortal"  // it ends when the first client comes
	haunted fault = "haunted" // some connections to the server are closed at once, and made again
	weighty fault = "weighty" // nothing, but each client that waits takes a weight of memory
)

const (
	someOf  = 10 // one of so many is "some"
	tooLate = 2500 * time.Millisecond
	weight  = 1 << 20
)

// faulty is the peer of such a proxy.
type faulty struct {
	fault
	prepared func() // called by Command, if there is
}

func (f faulty) Name() string                       { return string(f.fault) }
func (f faulty) Version() string                    { return "" }
func (f faulty) Check(peer.Setup) []string          { return nil }
func (f faulty) Reload(s peer.Setup, pid int) error { return nil }

func (f faulty) Command(s peer.Setup) ([]string, error) {
	if f.prepared != nil {
		f.prepared()
	}
	m := s.Members[0]
	return []string{os.Args[0], "proxy", string(f.fault), s.Listen.String(), m.Address.String(), strconv.Itoa(m.Limit)}, nil
}

// proxy is simple: one lock, and a goroutine for each connection.
type proxy struct {
	fault
	server string

	mu      sync.Mutex
	came    int64    // clients
	free    int      // slots
	waiting []waiter // in order of arrival
}

// waiter is a client. What befalls some befalls them by their number, however fast
// they come.
type waiter struct {
	net.Conn
	number int64
}

func (w waiter) some(remainder int64) bool { return w.number%someOf == remainder }

func proxyCommand(ctx context.Context, args []string, _ io.Reader, _, _ io.Writer) error {
	limit, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	p := &proxy{fault: fault(args[0]), server: args[2], free: limit}
	if p.fault == greedy {
		p.free++
	}
	l, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	for {
		c, err := l.Accept()
		if err != nil {
			return nil
		}
		if p.fault == mortal {
			return errors.New("out of sorts")
		}
		p.arrive(c)
	}
}

func (p *proxy) arrive(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came++
	w := waiter{c, p.came}
	switch {
	case p.fault == drops && w.some(1):
		c.Close()
		return
	case p.fault == drops && w.some(2):
		forgotten = append(forgotten, c)
		return
	case p.fault == weighty:
		weigh(weight)
	}
	p.waiting = append(p.waiting, w)
	p.serve()
}

var forgotten []net.Conn // else the collector would close them

// weigh has the process take so much memory that nobody shares with it: what is read
// from its program's file weighs less or more as other processes read it too. It is
// in use at once.
func weigh(bytes int) {
	_, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		panic(err)
	}
}

// serve gives free slots away. The lock is held, so that the server sees clients in
// the order in which they get their slots, whenever their goroutines run.
func (p *proxy) serve() {
	for p.free > 0 && len(p.waiting) > 0 {
		next := 0
		if p.fault == newest {
			next = len(p.waiting) - 1
		}
		c := p.waiting[next]
		p.waiting = append(p.waiting[:next], p.waiting[next+1:]...)
		p.free--
		if p.fault == haunted && c.some(4) {
			if s, err := net.Dial("tcp", p.server); err == nil {
				s.Close()
			}
		}
		s, err := net.Dial("tcp", p.server)
		if err != nil {
			panic(err) // the test sees that it has ended, and why
		}
		go p.relay(c, s)
	}
}

// relay has the client's request answered and gives the slot back.
func (p *proxy) relay(c waiter, s net.Conn) {
	defer c.Close()
	response := ask(c, s)
	p.mu.Lock()
	p.free++
	p.serve()
	p.mu.Unlock()
	if p.fault == late && c.some(3) {
		time.Sleep(tooLate)
	}
	c.Write(response)
}

func ask(c, s net.Conn) (response []byte) {
	defer s.Close()
	request := make([]byte, 64)
	if _, err := io.ReadFull(c, request); err != nil {
		return nil
	}
	s.Write(request)
	response, _ = io.ReadAll(s)
	return response
}
