package sys

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A dialled socket's addresses are what was asked for, at both ends, whatever
// the family.
func TestAddresses(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"} {
		t.Run(host, func(t *testing.T) {
			ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if host == "::1" && (errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT)) {
				t.Skip("no IPv6 here: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			f, err := ln.(*net.TCPListener).File()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
			to := NewAddress(netip.AddrPortFrom(netip.MustParseAddr(host), port))
			fd, e := Dial(&to)
			if fd < 0 {
				t.Fatal(e)
			}
			defer Close(fd)
			var a Acceptor
			got, from, e := a.Accept(int(f.Fd()))
			if e != 0 {
				t.Fatal(e)
			}
			defer Close(got)
			if !Connected(fd) || Error(fd) != 0 {
				t.Error("not connected")
			}
			want := netip.AddrPortFrom(netip.MustParseAddr(host).Unmap(), localPort(t, fd))
			if from.AddrPort() != want {
				t.Errorf("accepted %v, want %v", from.AddrPort(), want)
			}
			if PeerOf(want) != from || Local(fd) != from {
				t.Errorf("%v, %v; want %v", PeerOf(want), Local(fd), from)
			}
			if at := Local(got).AddrPort(); at != netip.AddrPortFrom(want.Addr(), port) {
				t.Errorf("connected to %v", at)
			}
		})
	}
}

func localPort(t *testing.T, fd int) uint16 {
	sa, err := unix.Getsockname(fd)
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return uint16(sa.Port)
	case *unix.SockaddrInet6:
		return uint16(sa.Port)
	}
	t.Fatal(err)
	return 0
}

func TestEndOfBacklogAndOfStream(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lfd := int(f.Fd()) // blocking from now on
	unix.SetNonblock(lfd, true)
	var a Acceptor
	if fd, _, e := a.Accept(lfd); e != unix.EAGAIN || fd != -1 {
		t.Errorf("%d, %v with nobody there", fd, e)
	}
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for deadline := time.Now().Add(20 * time.Second); Poll(lfd)&In == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) { // its last segment may be on its way still
			t.Fatal("who has connected does not come")
		}
	}
	fd, _, e := a.Accept(lfd)
	if e != 0 {
		t.Fatal(e)
	}
	b := make([]byte, 10)
	if _, e := Recv(fd, b); e != unix.EAGAIN {
		t.Errorf("%v with nothing to read", e)
	}
	if n, e := Send(fd, []byte("x")); n != 1 || e != 0 {
		t.Error(n, e)
	}
	if n, err := c.Read(b); n != 1 || err != nil {
		t.Error(n, err)
	}
	if e := ShutdownWrite(fd); e != 0 {
		t.Error(e)
	}
	if _, e := Send(fd, []byte("x")); e != unix.EPIPE {
		t.Errorf("%v behind FIN", e)
	}
	Reset(fd)
	if _, e := Recv(fd, b); e != unix.EBADF {
		t.Errorf("%v after Reset", e)
	}
}

// The data path's calls allocate nothing.
func TestCallsAllocateNothing(t *testing.T) {
	p, size, e := NewPipe(1 << 16)
	if e != 0 || size < 1<<12 {
		t.Fatal(size, e)
	}
	defer p.Close()
	to := NewAddress(netip.MustParseAddrPort("127.0.0.1:1")) // refused
	var a Acceptor
	b := make([]byte, 10)
	if n := testing.AllocsPerRun(100, func() {
		if fd, _ := Dial(&to); fd >= 0 {
			Recv(fd, b)
			Peek(fd, b)
			Send(fd, b)
			Connected(fd)
			Error(fd)
			Unacked(fd)
			NoDelay(fd)
			a.Accept(fd)
			Splice(fd, p.W, 10)
			Close(fd)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
