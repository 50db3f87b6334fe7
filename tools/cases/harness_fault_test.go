package cases

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"

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
	filler net.Conn
}

func blackHole(t testing.TB) *hole {
	t.Helper()
	h := &hole{t: t, fd: socketOn(t, 0)}
	h.addr = portOf(t, h.fd)
	if err := unix.Listen(h.fd, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.refuse)
	var err error
	if h.filler, err = net.DialTimeout("tcp", h.addr, patience); err != nil { // a backlog takes one more than its length
		t.Fatal(err)
	}
	await(t, patience, "a full backlog", h.full)
	return h
}

// full says whether there are more who wait for accept than the backlog's length,
// so that the kernel answers nobody else. It tells the two of a listener in the
// place of segments that are under way.
func (h *hole) full() bool {
	info, err := unix.GetsockoptTCPInfo(h.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		h.t.Fatal(err)
	}
	return info.Unacked > info.Sacked
}

// refuse makes the hole refuse dials, those that are under way too, when they
// ask again.
func (h *hole) refuse() {
	if h.filler != nil {
		h.filler.Close()
		h.filler = nil
	}
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
	c, err := ln.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	c.Close()
	h.refuse() // only the filler is left to close
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
