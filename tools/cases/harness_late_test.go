package cases

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// late is what a client says before it is connected: over TAP, who is parked is
// still in connect(). It is said when the kernel has made the connection.
// Reading waits for that by itself.
type late struct {
	over chan struct{} // closed when the connection is there, or will not be

	mu   sync.Mutex
	done bool
	todo []func()
}

// postpone has f called once the client is connected. False if it is, or was
// from the start (a nil late).
func (l *late) postpone(f func()) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done {
		l.todo = append(l.todo, f)
	}
	return !l.done
}

// connected does what was postponed, in order.
func (l *late) connected() {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(l.over)
	for _, f := range l.todo {
		f()
	}
	l.done, l.todo = true, nil
}

// CloseWrite ends what the client has to say.
func (c *client) CloseWrite() error {
	if c.late.postpone(func() { c.TCPConn.CloseWrite() }) {
		return nil
	}
	return c.TCPConn.CloseWrite()
}

// RemoteAddr is where it is connected to, or will be.
func (c *client) RemoteAddr() net.Addr {
	if c.late == nil {
		return c.TCPConn.RemoteAddr()
	}
	return net.TCPAddrFromAddrPort(c.to)
}

// dialLate begins a connection and does not wait for it.
func dialLate(t testing.TB, source, addr string) (*client, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	fd, err := begin(source, to)
	if err != nil {
		return nil, os.NewSyscallError("connect "+addr, err)
	}
	f := os.NewFile(uintptr(fd), addr)
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	c := &client{conn.(*net.TCPConn), t, at, &late{over: make(chan struct{})}, to}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	go func() {
		raw.Write(func(fd uintptr) bool { return stateOf(int(fd)) != synSent })
		c.late.connected()
	}()
	return c, nil
}

// begin sends a SYN. The source is an address, with or without a port, or
// empty.
func begin(source string, to netip.AddrPort) (fd int, err error) {
	family := unix.AF_INET
	from := netip.AddrPortFrom(netip.IPv4Unspecified(), 0)
	if to.Addr().Is6() {
		family = unix.AF_INET6
		from = netip.AddrPortFrom(netip.IPv6Unspecified(), 0)
	}
	if a, err := netip.ParseAddr(source); err == nil {
		from = netip.AddrPortFrom(a, 0)
	} else if source != "" {
		from = netip.MustParseAddrPort(source)
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	// A port is chosen for the destination, not for all.
	unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	if err = unix.Bind(fd, sockaddr(from)); err == nil {
		err = unix.Connect(fd, sockaddr(to))
	}
	if err != nil && err != unix.EINPROGRESS {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// stateOf returns a socket's state, as the kernel's tables number them.
func stateOf(fd int) int {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return int(info.State)
}

// info is what the kernel knows of a client's connection.
func (c *client) info() *unix.TCPInfo {
	c.t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	var info *unix.TCPInfo
	raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

// connecting says that no SYN has been answered yet.
func (c *client) connecting() bool { return c.info().State == synSent }

// keepPort keeps the proxy's port from all others to the end of the test, so that
// nobody answers there when its listeners are closed.
func (p *proxy) keepPort() {
	p.t.Helper()
	if *overTap { // nobody else has its address
		return
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { unix.Close(fd) })
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) // as they do
	if err := unix.Bind(fd, sockaddr(netip.MustParseAddrPort(p.addr))); err != nil {
		p.t.Fatal(err)
	}
}

// listens says whether somebody who connects is not refused; see keepPort.
func (p *proxy) listens() bool {
	p.t.Helper()
	c, err := p.dial("")
	if err != nil {
		return false
	}
	defer c.Close()
	if c.late == nil {
		return true
	}
	select {
	case <-c.late.over:
		return c.info().State != closed
	case <-time.After(100 * time.Millisecond):
		return true // parked
	}
}

// connected waits until the client is.
func (c *client) connected(within time.Duration) {
	c.t.Helper()
	start := time.Now()
	select {
	case <-c.late.over:
	case <-time.After(max(within, patience)):
		c.t.Fatalf("not connected after %v", time.Since(c.at))
	}
	inTime(c.t, "connected", start, within)
	if c.info().State == closed {
		c.t.Fatalf("refused after %v", time.Since(c.at))
	}
}

func addrPort(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }
