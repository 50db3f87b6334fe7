package cases

import (
	"io"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server is a member. It greets with its name and counts its own connections.
type server struct {
	t     testing.TB
	name  string
	addr  string
	ln    *net.TCPListener
	serve func(*visit)

	now, most, total atomic.Int64

	marks chan bool // see marked

	mu sync.Mutex
	// Called for each visit when it is counted, and when no more; see watch.
	enters, leaves func(*visit)
	open           map[*visit]bool
	came           chan *visit // in the order of accept; see next
	closed         bool
}

// visit is one connection to a server.
type visit struct {
	*net.TCPConn
	at     time.Time // when it was accepted
	server *server
	began  string // the first line, if somebody has read it
	over   sync.Once
}

// listen starts a server that hands each connection to serve, on a goroutine
// of its own. What serve leaves open is ended when the test is over. Nil serve:
// the connections are for next.
func listen(t testing.TB, name string, serve func(*visit)) *server {
	t.Helper()
	return listenAt(t, home(false)+":0", name, serve)
}

// listenAt is listen at an address.
func listenAt(t testing.TB, addr, name string, serve func(*visit)) *server {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return on(t, ln.(*net.TCPListener), name, serve, make(chan *visit, 1<<17))
}

// beside starts a server whose connections are for the same next.
func (s *server) beside(name string) *server {
	s.t.Helper()
	ln, err := net.Listen("tcp", home(false)+":0")
	if err != nil {
		s.t.Fatal(err)
	}
	return on(s.t, ln.(*net.TCPListener), name, nil, s.came)
}

// on starts a server on a listener.
func on(t testing.TB, ln *net.TCPListener, name string, serve func(*visit), came chan *visit) *server {
	s := &server{
		t: t, name: name, addr: ln.Addr().String(), ln: ln, serve: serve,
		open: map[*visit]bool{}, came: came, marks: make(chan bool),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.accept()
	}()
	t.Cleanup(func() {
		s.close()
		<-done
	})
	return s
}

func (s *server) accept() {
	for {
		c, err := s.ln.AcceptTCP()
		if err != nil {
			return
		}
		if from := c.RemoteAddr().(*net.TCPAddr); from.IP.String() == markSource {
			c.Close()
			s.marks <- true
			continue
		}
		v := &visit{TCPConn: c, at: time.Now(), server: s}
		s.count()
		s.watcher(true)(v)
		switch {
		case !s.enter(v):
			v.end()
		case s.serve == nil:
			s.came <- v
		default:
			go s.serve(v)
		}
	}
}

// watch has functions called for each visit, when it is counted and when no
// more.
func (s *server) watch(enters, leaves func(*visit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enters, s.leaves = enters, leaves
}

func (s *server) watcher(enters bool) (f func(*visit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.leaves; enters {
		f = s.enters
	}
	if f == nil {
		return func(*visit) {}
	}
	return f
}

func (s *server) count() {
	s.total.Add(1)
	n := s.now.Add(1)
	if n > s.most.Load() { // only accept writes it
		s.most.Store(n)
	}
}

// markSource is the address of those who only mark a place in a listener's
// queue.
const markSource = "127.9.9.9"

// marked says that all connections to the server that were begun before it was
// called have been counted: the queue of a listener is in order. With
// mode=forward it is their clients who complete them.
func (s *server) marked() {
	s.t.Helper()
	if *forward {
		begun := halfOpen(s.t, s.addr)
		await(s.t, patience, "they are complete", func() bool {
			now := halfOpen(s.t, s.addr)
			maps.DeleteFunc(begun, func(peer netip.AddrPort, _ bool) bool { return !now[peer] })
			return len(begun) == 0
		})
	}
	c, err := connectFrom(markSource, s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	<-s.marks
	c.Close()
}

// enter notes who is there. False if the server has closed.
func (s *server) enter(v *visit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[v] = !s.closed
	return !s.closed
}

// close stops listening and ends what is open.
func (s *server) close() {
	s.ln.Close()
	s.mu.Lock()
	s.closed = true
	var open []*visit
	for v := range s.open {
		open = append(open, v)
	}
	s.mu.Unlock()
	for _, v := range open {
		v.end()
	}
}

// limit returns the member with a connection limit.
func (s *server) limit(n int) string { return s.addr + ",connection-limit=" + itoa(n) }

// next returns the next connection, which must come in time.
func (s *server) next(within time.Duration) *visit {
	s.t.Helper()
	return nextOf(s, s.came, within)
}

func nextOf(s *server, came <-chan *visit, within time.Duration) *visit {
	s.t.Helper()
	start := time.Now()
	select {
	case v := <-came:
		inTime(s.t, "somebody came to "+s.name, start, within)
		return v
	case <-time.After(max(within, patience)):
		s.t.Fatalf("nobody came to %s within %v", s.name, time.Since(start))
		return nil
	}
}

// nobody says that no connection comes within a time.
func (s *server) nobody(span time.Duration) {
	s.t.Helper()
	select {
	case <-s.came:
		s.t.Errorf("somebody came to %s", s.name)
	case <-time.After(span):
	}
}

// leave lowers the count and closes, in this order.
func (v *visit) leave(close func()) {
	v.over.Do(func() {
		v.server.mu.Lock()
		delete(v.server.open, v)
		v.server.mu.Unlock()
		v.server.now.Add(-1)
		v.server.watcher(false)(v)
		close()
	})
}

// end closes with FIN, if nothing is unread.
func (v *visit) end() { v.leave(func() { v.Close() }) }

// reset closes with RST.
func (v *visit) reset() {
	v.leave(func() {
		v.SetLinger(0)
		v.Close()
	})
}

// greet says the server's name.
func (v *visit) greet() { v.Write([]byte(v.server.name + "\n")) }

// line reads up to a newline.
func (v *visit) line() (string, error) { return readLine(v, patience) }

// hold greets and stays until the client ends it.
func hold(v *visit) {
	v.greet()
	io.Copy(io.Discard, v)
	v.end()
}

// lasting greets, stays for a time, and ends it.
func lasting(d time.Duration) func(*visit) {
	return func(v *visit) {
		v.greet()
		time.Sleep(d)
		v.end()
	}
}
