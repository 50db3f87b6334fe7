package run

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

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
)

const (
	someOf  = 10 // one of so many is "some"
	tooLate = 2500 * time.Millisecond
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
	came   atomic.Int64 // clients

	mu      sync.Mutex
	free    int        // slots
	waiting []net.Conn // in order of arrival
}

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

func (p *proxy) some(remainder int64) bool { return p.came.Load()%someOf == remainder }

func (p *proxy) arrive(c net.Conn) {
	p.came.Add(1)
	if p.fault == drops && p.some(1) {
		c.Close()
		return
	}
	if p.fault == drops && p.some(2) {
		forgotten = append(forgotten, c)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, c)
	p.serve()
}

var forgotten []net.Conn // else the collector would close them

// serve gives free slots away. The lock is held.
func (p *proxy) serve() {
	for p.free > 0 && len(p.waiting) > 0 {
		next := 0
		if p.fault == newest {
			next = len(p.waiting) - 1
		}
		c := p.waiting[next]
		p.waiting = append(p.waiting[:next], p.waiting[next+1:]...)
		p.free--
		go p.relay(c, p.fault == late && p.some(3), p.fault == haunted && p.some(4))
	}
}

// relay has the client's request answered and gives the slot back.
func (p *proxy) relay(c net.Conn, late, haunted bool) {
	defer c.Close()
	if haunted {
		if s, err := net.Dial("tcp", p.server); err == nil {
			s.Close()
		}
	}
	response := p.ask(c)
	p.mu.Lock()
	p.free++
	p.serve()
	p.mu.Unlock()
	if late {
		time.Sleep(tooLate)
	}
	c.Write(response)
}

func (p *proxy) ask(c net.Conn) (response []byte) {
	s, err := net.Dial("tcp", p.server)
	if err != nil {
		return nil
	}
	defer s.Close()
	request := make([]byte, 64)
	if _, err := io.ReadFull(c, request); err != nil {
		return nil
	}
	s.Write(request)
	response, _ = io.ReadAll(s)
	return response
}
