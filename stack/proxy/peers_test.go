package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// server is what clients are proxied to. It counts its own connections: that
// number decides, not the proxy's.
type server struct {
	ln       *net.TCPListener
	now      atomic.Int64 // connections open
	most     atomic.Int64
	accepted atomic.Int64
	conns    chan *net.TCPConn // those nobody handles; see hold
}

// serve runs a server that handles each connection on its own goroutine and
// closes it afterwards. Its count is down before it closes.
func serve(t testing.TB, handle func(*net.TCPConn)) *server {
	t.Helper()
	return serveOn(t, listen(t, "127.0.0.1:0"), handle)
}

func serveOn(t testing.TB, ln *net.TCPListener, handle func(*net.TCPConn)) *server {
	s := &server{ln: ln}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := s.ln.AcceptTCP()
			if err != nil {
				return
			}
			s.count()
			running.Go(func() {
				stop := context.AfterFunc(t.Context(), func() { c.Close() }) // before cleanups
				defer stop()
				handle(c)
				s.now.Add(-1)
				c.Close()
			})
		}
	})
	t.Cleanup(func() { s.ln.Close(); running.Wait() })
	return s
}

func (s *server) count() {
	s.accepted.Add(1)
	n := s.now.Add(1)
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
}

func (s *server) addr() netip.AddrPort { return addrOf(s.ln) }

func addrOf(ln *net.TCPListener) netip.AddrPort { return ln.Addr().(*net.TCPAddr).AddrPort() }

// hold runs a server whose connections the test itself takes, with next.
func hold(t testing.TB) *server {
	t.Helper()
	s := &server{ln: listen(t, "127.0.0.1:0"), conns: make(chan *net.TCPConn, 1<<12)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := s.ln.AcceptTCP()
			if err != nil {
				return
			}
			s.count()
			s.conns <- c
		}
	}()
	t.Cleanup(func() {
		s.ln.Close()
		<-done
		close(s.conns)
		for c := range s.conns {
			c.Close()
		}
	})
	return s
}

// next returns the next connection that reached a server of hold.
func (s *server) next(t testing.TB) *net.TCPConn {
	t.Helper()
	select {
	case c := <-s.conns:
		c.SetDeadline(time.Now().Add(patience))
		t.Cleanup(func() { c.Close() })
		return c
	case <-time.After(patience):
		t.Fatal("no connection reached the server")
		return nil
	}
}

// echoed sends back all that comes, by hand: io.Copy would splice, by pipes that the
// runtime keeps until it collects garbage, and that would be counted as the proxy's.
func echoed(c *net.TCPConn) {
	b := make([]byte, 1<<10)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		c.Write(b[:n])
	}
}

// none checks that no connection reached the server of hold that was not
// taken with next.
func (s *server) none(t testing.TB) {
	t.Helper()
	if n := len(s.conns); n != 0 {
		t.Errorf("%d connections reached the server, want none", n)
	}
}

func listen(t testing.TB, addr string) *net.TCPListener {
	t.Helper()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // its listeners take no filter
	ln, err := plain.Listen(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return ln.(*net.TCPListener)
}

// needsIPv6 passes over a test on a machine that has IPv6 switched off.
func needsIPv6(t testing.TB) {
	t.Helper()
	ln, err := net.Listen("tcp6", "[::1]:0")
	if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
		t.Skip("no IPv6 here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
}

// keep takes an address that a proxy listens on, too, and does not listen itself: when
// the proxy does not any more nobody else gets the port, and who connects is refused.
func keep(t testing.TB, addr netip.AddrPort) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: addr.Addr().As4(), Port: int(addr.Port())}); err != nil {
		t.Fatal(err)
	}
}

// refuser returns an address that nobody listens on, and nobody will.
func refuser(t testing.TB) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(sa.(*unix.SockaddrInet4).Port))
}

// blackHole returns the address of a server that answers no SYN.
func blackHole(t testing.TB) netip.AddrPort {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	t.Cleanup(func() { ln.Close() })
	dropAll(t, ln)
	return addrOf(ln)
}

// dropAll makes the kernel drop all packets for a socket, so that its peer
// seems to have vanished.
func dropAll(t testing.TB, c syscall.Conn) {
	t.Helper()
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	withFD(t, c, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: 1, Filter: &drop[0]})
	})
}

func withFD(t testing.TB, c syscall.Conn, do func(fd int) error) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if cerr := raw.Control(func(fd uintptr) { err = do(int(fd)) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
}

func dialTo(t testing.TB, addr netip.AddrPort) *net.TCPConn {
	t.Helper()
	d := net.Dialer{Timeout: patience, KeepAlive: -1}
	c, err := d.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// dialRefused connects a client that is to be reset before it gets a byte,
// perhaps before it knows that it is connected.
func dialRefused(t testing.TB, addr netip.AddrPort) {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr.String(), patience)
	if err != nil {
		if !isReset(err) {
			t.Error(err)
		}
		return
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	wantReset(t, c.(*net.TCPConn), "")
}

// reset closes with RST.
func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// wantReset checks that the connection brings exactly the given bytes, and
// then a reset.
func wantReset(t testing.TB, c *net.TCPConn, want string) {
	t.Helper()
	if b, err := io.ReadAll(c); string(b) != want || !isReset(err) {
		t.Errorf("got %d bytes %.40q, then %v; want %.40q and a reset", len(b), b, err, want)
	}
}

// wantEOF checks that the connection brings exactly the given bytes, and then
// a FIN.
func wantEOF(t testing.TB, c *net.TCPConn, want string) {
	t.Helper()
	if b, err := io.ReadAll(c); string(b) != want || err != nil {
		t.Errorf("got %d bytes %.40q, then %v; want %.40q and EOF", len(b), b, err, want)
	}
}

// wantBytes checks that the next bytes are the given ones.
func wantBytes(t testing.TB, c *net.TCPConn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if n, err := io.ReadFull(c, b); string(b[:n]) != want || err != nil {
		t.Errorf("got %.40q, then %v; want %.40q", b[:n], err, want)
	}
}

func write(t testing.TB, c *net.TCPConn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Error(err)
	}
}

// leave closes a session, the client first. Its server closes when it has seen
// that: of two that close together the proxy may see either first.
func leave(t testing.TB, client, server *net.TCPConn) {
	t.Helper()
	client.Close()
	wantEOF(t, server, "")
	server.Close()
}

// pass checks that both directions of a session work.
func pass(t testing.TB, client, server *net.TCPConn) {
	t.Helper()
	write(t, client, "ping")
	wantBytes(t, server, "ping")
	write(t, server, "pong")
	wantBytes(t, client, "pong")
}
