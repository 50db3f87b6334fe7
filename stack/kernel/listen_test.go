package kernel

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

type acceptedClient struct {
	listener, fd int
	from         sys.Peer
}

// accepting runs a loop that hands its clients to the test, which owns their
// descriptors.
func accepting(t testing.TB, listen func(*Loop)) (*Loop, <-chan acceptedClient) {
	t.Helper()
	clients := make(chan acceptedClient, 1<<10)
	h := &handler{accepted: func(l, fd int, from sys.Peer) { clients <- acceptedClient{l, fd, from} }}
	return run(t, roomy(), h, listen), clients
}

func TestFamilies(t *testing.T) {
	v4, v6 := netip.MustParseAddrPort("127.0.0.1:0"), netip.MustParseAddrPort("[::1]:0")
	for _, c := range []struct {
		name    string
		listen  Address
		clients []string // hosts that get through
		refused []string
	}{
		{"IPv4", Address{AddrPort: v4}, []string{"127.0.0.1"}, []string{"::1"}},
		{"IPv6", Address{AddrPort: v6}, []string{"::1"}, []string{"127.0.0.1"}},
		{"dual", Address{Dual: true}, []string{"127.0.0.1", "::1"}, nil},
		{"any IPv4", Address{AddrPort: netip.MustParseAddrPort("0.0.0.0:0")}, []string{"127.0.0.1"}, []string{"::1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.listen.Addr().Is6() && !hasIPv6() {
				t.Skip("no IPv6 here")
			}
			var at Address
			c.clients, c.refused = thoseHere(c.clients), thoseHere(c.refused)
			_, clients := accepting(t, func(l *Loop) { at = listenBeside(t, l, 7, c.listen, c.refused) })
			_, port, err := net.SplitHostPort(at.String())
			if err != nil || port == "0" {
				t.Fatalf("listening on %v", at)
			}
			for _, host := range c.clients {
				conn := dialTo(t, "tcp", net.JoinHostPort(host, port))
				got := receive(t, clients)
				unix.Close(got.fd)
				if want := conn.LocalAddr().(*net.TCPAddr).AddrPort(); got.from.AddrPort() != want || got.listener != 7 {
					t.Errorf("accepted %v at listener %d, want %v at 7", got.from.AddrPort(), got.listener, want)
				}
			}
			for _, host := range c.refused {
				if conn, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil {
					conn.Close()
					t.Errorf("a client of %s got through", host)
				}
			}
		})
	}
}

// Where the kernel has no IPv6 at all, ":PORT" is that of IPv4.
func TestDualWithoutIPv6(t *testing.T) {
	defer func(f func() bool) { ipv6 = f }(ipv6)
	ipv6 = func() bool { return false }
	var at Address
	_, clients := accepting(t, func(l *Loop) { at = listenBeside(t, l, 7, Address{Dual: true}, thoseHere([]string{"::1"})) })
	if err := at.Free(); err == nil {
		t.Errorf("%v is said to be free", at)
	}
	conn := dialTo(t, "tcp", fmt.Sprintf("127.0.0.1:%d", at.Port()))
	got := receive(t, clients)
	unix.Close(got.fd)
	if got.from.AddrPort() != conn.LocalAddr().(*net.TCPAddr).AddrPort() {
		t.Errorf("accepted %v, want %v", got.from.AddrPort(), conn.LocalAddr())
	}
}

// hasIPv6 says whether this machine has it switched on.
func hasIPv6() bool {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		ln.Close()
	}
	return err == nil
}

// thoseHere are the hosts that there are on a machine that may be without IPv6.
func thoseHere(hosts []string) []string {
	if hasIPv6() {
		return hosts
	}
	return slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == "::1" })
}

// listenBeside listens on a port that nobody else on this machine has at certain
// hosts: they are held until the test ends, so that who connects to them is
// refused unless the listener takes it.
func listenBeside(t testing.TB, l *Loop, index int, a Address, hosts []string) Address {
	t.Helper()
	for range 20 { // in case somebody has the port there
		at := listenOn(t, l, index, a, Options{})
		free := true
		for _, h := range hosts {
			free = free && hold(t, netip.AddrPortFrom(netip.MustParseAddr(h), at.Port()))
		}
		if free {
			return at
		}
		l.CloseListener(l.Listeners(index)[0])
	}
	t.Fatal("no port is free")
	return a
}

// hold keeps others from listening at an address until the test ends, without
// listening there itself. It says whether that was possible; with a listener of
// ours at the same address it is.
func hold(t testing.TB, at netip.AddrPort) bool {
	t.Helper()
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: at.Addr().As16(), Port: int(at.Port())})
	if at.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		t.Cleanup(func() { unix.Close(fd) })
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return unix.Bind(fd, to) == nil
}

// held is an address whose port stays ours when the loop does not listen there
// any more.
func held(t testing.TB, at Address) Address {
	t.Helper()
	if !hold(t, at.AddrPort) {
		t.Fatal("the port is somebody else's already")
	}
	return at
}

// queued waits until so many clients wait to be accepted: who has connected may
// be one whose last segment is on its way still.
func queued(t testing.TB, listener, n int) {
	t.Helper()
	until(t, func() bool {
		i, err := unix.GetsockoptTCPInfo(listener, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err == nil && int(i.Unacked) == n
	}, "a backlog of %d", n)
}

// Loops share an address, and the port that the first of them chose; the
// kernel spreads the clients over them.
func TestLoopsSharePort(t *testing.T) {
	at := local()
	var all []<-chan acceptedClient
	for range 4 {
		_, clients := accepting(t, func(l *Loop) { at = listenOn(t, l, 0, at, Options{}) })
		all = append(all, clients)
	}
	const n = 200
	for range n {
		dialTo(t, "tcp", at.String())
	}
	total := func() (sum int) {
		for _, c := range all {
			sum += len(c)
		}
		return sum
	}
	until(t, func() bool { return total() == n }, "%d clients", n)
	for i, c := range all {
		if len(c) == 0 {
			t.Errorf("loop %d got nobody", i)
		}
		for len(c) > 0 {
			unix.Close((<-c).fd)
		}
	}
}

func TestListenFails(t *testing.T) {
	l, err := NewLoop(roomy(), &handler{}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Free()
	if a, err := l.Listen(0, Address{AddrPort: netip.MustParseAddrPort("192.0.2.1:80")}, Options{}); err == nil {
		t.Errorf("listens on %v, which is not ours", a)
	}
}

// What the listener was given, its connections have without a call.
func TestOptionsAreInherited(t *testing.T) {
	var at Address
	o := Options{Keepalive: 30 * time.Second, UserTimeout: 2 * time.Minute}
	_, clients := accepting(t, func(l *Loop) { at = listenOn(t, l, 0, local(), o) })
	dialTo(t, "tcp", at.String())
	fd := receive(t, clients).fd
	defer unix.Close(fd)
	checkOptions(t, fd)
	if v := getInt(t, fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); v != 1 {
		t.Errorf("TCP_NODELAY = %d", v)
	}
	own, peer := pair(t)
	defer unix.Close(own)
	_ = peer
	o.Apply(own)
	checkOptions(t, own)
}

func checkOptions(t *testing.T, fd int) {
	t.Helper()
	for _, o := range []struct {
		name                string
		level, option, want int
	}{
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 30},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 10},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 120_000},
	} {
		if v := getInt(t, fd, o.level, o.option); v != o.want {
			t.Errorf("%s = %d, want %d", o.name, v, o.want)
		}
	}
}

// A client that is not read makes the kernel hold little, and once it is read
// its window grows as anybody's.
func TestParkedClientIsSmall(t *testing.T) {
	var at Address
	_, clients := accepting(t, func(l *Loop) { at = listenOn(t, l, 0, local(), Options{}) })
	c := dialTo(t, "tcp", at.String())
	fd := receive(t, clients).fd
	defer unix.Close(fd)
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, soBufLock, 0) != nil {
		t.Log("this kernel has no SO_BUF_LOCK")
		return
	}
	if snd, rcv := windowScales(t, fd); snd == 0 || rcv == 0 {
		t.Errorf("window scales %d and %d: for ever small", snd, rcv)
	}
	const offered = 16 << 20
	wrote := make(chan error, 1)
	go func() {
		_, err := c.Write(make([]byte, offered))
		wrote <- err
	}()
	held := func() int {
		n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// When the sender has stalled it probes the window: then no more comes.
	until(t, func() bool { return held() > 0 && probing(t, c) }, "a sender that stalls")
	if n := held(); n > 32<<10 {
		t.Errorf("a parked client's %d bytes are held, want some 14 KiB", n)
	}
	before := getInt(t, fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	unix.SetNonblock(fd, false)
	buf := make([]byte, 256<<10)
	for got := 0; got < offered; {
		n, err := unix.Read(fd, buf)
		if n <= 0 {
			t.Fatal(n, err)
		}
		got += n
	}
	if err := receive(t, wrote); err != nil {
		t.Error(err)
	}
	if after := getInt(t, fd, unix.SOL_SOCKET, unix.SO_RCVBUF); after < 8*before {
		t.Errorf("SO_RCVBUF %d before and %d after 16 MiB: it does not grow", before, after)
	}
}

// probing says whether a sender's window is closed and it has noticed.
func probing(t *testing.T, c *net.TCPConn) (is bool) {
	withFD(t, c, func(fd int) error {
		i, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		is = err == nil && (i.Probes > 0 || i.Snd_wnd == 0 || i.Unacked == 0 && i.Notsent_bytes > 0)
		return err
	})
	return is
}

// windowScales reads two bit-fields that package unix hides in its padding.
func windowScales(t *testing.T, fd int) (snd, rcv int) {
	i, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		t.Fatal(err)
	}
	b := *(*byte)(unsafe.Add(unsafe.Pointer(i), 6))
	return int(b & 15), int(b >> 4)
}

// CloseListeners ends accepting; the backlog can be served before.
func TestDrainBacklog(t *testing.T) {
	var at Address
	l, clients := accepting(t, func(l *Loop) { at = held(t, listenOn(t, l, 0, local(), Options{})) })
	do(t, l, func() { // with the loop busy, they wait in the backlog
		for range 100 {
			dialTo(t, "tcp", at.String())
		}
		queued(t, l.Listeners(0)[0], 100)
		l.DrainBacklog()
		l.CloseListeners()
	})
	if len(clients) != 100 {
		t.Errorf("%d of 100 were accepted", len(clients))
	}
	for len(clients) > 0 {
		unix.Close((<-clients).fd)
	}
	if c, err := net.Dial("tcp", at.String()); err == nil {
		c.Close()
		t.Error("somebody listens still")
	}
}
