package cases

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// refusing returns an address at which every dial is refused. It stays
// reserved until the test ends.
func refusing(t testing.TB) string {
	t.Helper()
	fd := socketOn(t, 0)
	t.Cleanup(func() { unix.Close(fd) })
	return portOf(t, fd)
}

// hole is an address at which dials get no answer: its backlog is full.
type hole struct {
	t      testing.TB
	addr   string
	fd     int
	filler []net.Conn
}

func blackHole(t testing.TB) *hole {
	t.Helper()
	h := &hole{t: t, fd: socketOn(t, 0)}
	h.addr = portOf(t, h.fd)
	if err := unix.Listen(h.fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		c, err := net.DialTimeout("tcp", h.addr, 200*time.Millisecond)
		if err != nil { // full
			t.Cleanup(h.refuse)
			return h
		}
		h.filler = append(h.filler, c)
	}
	t.Fatal("the backlog does not fill")
	return nil
}

// refuse makes the hole refuse dials, those that are under way too, when they
// ask again.
func (h *hole) refuse() {
	for _, c := range h.filler {
		c.Close()
	}
	h.filler = nil
	if h.fd >= 0 {
		unix.Close(h.fd)
		h.fd = -1
	}
}

// answer makes the hole a server: dials that are under way get through when
// they ask again, about a second after they first did.
func (h *hole) answer(name string) *server {
	h.t.Helper()
	f := os.NewFile(uintptr(h.fd), h.addr)
	ln, err := net.FileListener(f)
	if err != nil {
		h.t.Fatal(err)
	}
	f.Close()
	h.fd = -1
	for range h.filler {
		c, err := ln.Accept()
		if err != nil {
			h.t.Fatal(err)
		}
		c.Close()
	}
	h.refuse() // only the fillers are left to close
	return on(h.t, ln.(*net.TCPListener), name, nil, make(chan *visit, 1<<10))
}

// socketOn opens a TCP socket bound to a port of home; 0: any.
func socketOn(t testing.TB, port int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(netip.MustParseAddr(home(false)), uint16(port)))); err != nil {
		unix.Close(fd)
		t.Fatal(err)
	}
	return fd
}

func portOf(t testing.TB, fd int) string {
	t.Helper()
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s:%d", home(false), sa.(*unix.SockaddrInet4).Port)
}
