package monitor

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// serve runs a server that treats each connection with f, and closes it then.
func serve(t *testing.T, f func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{}) // the listener and all connections are closed
	live := make(chan struct{}, 1000)
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				break
			}
			live <- struct{}{}
			go func() {
				defer func() { c.Close(); <-live }()
				c.SetDeadline(time.Now().Add(2 * patience))
				f(c.(*net.TCPConn))
			}()
		}
		for range cap(live) {
			live <- struct{}{}
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// nobody is an address where nobody listens. A socket holds the port until the
// test ends, so that no other process's listener gets it; the test's own may.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(at.(*unix.SockaddrInet4).Port))
}

// refused says whether a reason is one that nobody's address gives: that nobody
// listens, or that a check of this machine's, which stood still, ran out of time.
func refused(reason string) bool {
	return reason == "connect: connection refused" || strings.HasPrefix(reason, "connect: nothing within ") ||
		strings.HasPrefix(reason, "no answer within ")
}

// answer makes a server that reads a request's first bytes and says these.
func answer(pieces ...string) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		for i, p := range pieces {
			if i > 0 {
				time.Sleep(2 * time.Millisecond) // so that they arrive apart
			}
			c.Write([]byte(p))
		}
	}
}

// hang makes a server that says nothing until the other side leaves.
func hang(c *net.TCPConn) {
	for {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
	}
}
