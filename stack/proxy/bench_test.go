package proxy

import (
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Clients and servers on blocking descriptors, which allocate nothing: what
// is counted and timed is the proxy's.

// rawServer answers the first bytes of each connection with the same, and
// closes after the client; one connection at a time.
func rawServer(t testing.TB) netip.AddrPort {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	f, err := ln.File() // blocking
	if err != nil {
		t.Fatal(err)
	}
	addr := addrOf(ln)
	ln.Close()
	fd := int(f.Fd())
	var running sync.WaitGroup
	running.Go(func() {
		b := make([]byte, 4096)
		for {
			c, _, e := syscall.Syscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
			if e == unix.EINTR {
				continue
			}
			if e != 0 {
				return
			}
			for {
				n, err := unix.Read(int(c), b)
				if n <= 0 || err != nil {
					break
				}
				unix.Write(int(c), b[:n])
			}
			unix.Close(int(c))
		}
	})
	t.Cleanup(func() {
		unix.Shutdown(fd, unix.SHUT_RD) // ends accept
		running.Wait()
		f.Close()
	})
	return addr
}

// rawClient connects to one address again and again.
type rawClient struct {
	to  unix.RawSockaddrInet4
	buf [4096]byte
	fd  int
}

func newRawClient(addr netip.AddrPort) *rawClient {
	return &rawClient{to: unix.RawSockaddrInet4{
		Family: unix.AF_INET, Port: addr.Port()<<8 | addr.Port()>>8, Addr: addr.Addr().As4(),
	}}
}

func (c *rawClient) connect(t testing.TB) {
	fd, _, e := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if e == 0 {
		_, _, e = syscall.Syscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&c.to)), unix.SizeofSockaddrInet4)
	}
	if e != 0 {
		t.Fatal(e)
	}
	c.fd = int(fd)
}

// request sends n bytes and reads as many.
func (c *rawClient) request(t testing.TB, n int) {
	if _, err := unix.Write(c.fd, c.buf[:n]); err != nil {
		t.Fatal(err)
	}
	for got := 0; got < n; {
		m, err := unix.Read(c.fd, c.buf[got:n])
		if m <= 0 || err != nil {
			t.Fatal(m, err)
		}
		got += m
	}
}

func (c *rawClient) close() { unix.Close(c.fd) }

func (c *rawClient) short(t testing.TB) {
	c.connect(t)
	c.request(t, 100)
	c.close()
}

func unlogged(c *Config) { c.Ended = nil }

// A short connection allocates nothing, parked or not, logged or not.
func TestShortConnectionAllocatesNothing(t *testing.T) {
	const connections = 2000
	for name, options := range map[string]struct {
		log   option
		limit int64
		most  float64
	}{
		"direct":              {unlogged, 0, 0.1},
		"parked now and then": {unlogged, 1, 0.1},
		"logged":              {func(c *Config) { c.Ended = func(int, *Ended) {} }, 0, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, options.log, member(rawServer(t), options.limit))
			c := newRawClient(r.addr())
			for range connections / 10 {
				c.short(t)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range connections {
				c.short(t)
			}
			runtime.ReadMemStats(&after)
			n := float64(after.Mallocs-before.Mallocs) / connections
			b := float64(after.TotalAlloc-before.TotalAlloc) / connections
			t.Logf("%.3f allocations and %.1f bytes a connection", n, b)
			if n > options.most {
				t.Errorf("%.3f allocations a connection", n)
			}
			r.untilInUse(0)
		})
	}
}

// Connect, 100 bytes there and back, close.
func BenchmarkShortConnection(b *testing.B) {
	r := start(b, member(rawServer(b), 0), unlogged)
	c := newRawClient(r.addr())
	b.ReportAllocs()
	for b.Loop() {
		c.short(b)
	}
}

// The same without a proxy, for comparison.
func BenchmarkShortConnectionDirect(b *testing.B) {
	c := newRawClient(rawServer(b))
	b.ReportAllocs()
	for b.Loop() {
		c.short(b)
	}
}

// 100 bytes there and back on a connection that stays.
func BenchmarkRequest(b *testing.B) {
	r := start(b, member(rawServer(b), 0), unlogged)
	c := newRawClient(r.addr())
	c.connect(b)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, 100)
	}
	c.close()
}

func BenchmarkRequestDirect(b *testing.B) {
	c := newRawClient(rawServer(b))
	c.connect(b)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, 100)
	}
	c.close()
}

// One direction, as fast as it goes, 256 KiB an operation.
func BenchmarkBulk(b *testing.B) {
	s := hold(b)
	r := start(b, member(s.addr(), 0), unlogged)
	up := r.dial()
	down := s.next(b)
	up.SetDeadline(noDeadline)
	down.SetDeadline(noDeadline)
	piece := make([]byte, 256<<10)
	var sending sync.WaitGroup
	sending.Go(func() {
		for {
			if _, err := up.Write(piece); err != nil {
				return
			}
		}
	})
	b.SetBytes(int64(len(piece)))
	b.ReportAllocs()
	into := make([]byte, len(piece))
	for b.Loop() {
		for got := 0; got < len(into); {
			n, err := down.Read(into[got:])
			if err != nil {
				b.Fatal(err)
			}
			got += n
		}
	}
	reset(down)
	sending.Wait()
}
