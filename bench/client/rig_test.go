package client

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/arrival"
	"penstock/bench/proc"
	"penstock/bench/server"
	"penstock/bench/sock"
	"penstock/bench/span"
	"penstock/bench/tally"
)

// The package leaves no descriptor behind.
func TestMain(m *testing.M) {
	if os.Getenv(starving) != "" {
		os.Exit(starve())
	}
	before, _ := proc.Descriptors(os.Getpid())
	code := m.Run()
	after, _ := proc.Descriptors(os.Getpid())
	for end := time.Now().Add(time.Minute); after > before+2 && time.Now().Before(end); { // the runtime's own poller
		time.Sleep(time.Millisecond) // connections of servers that have not ended yet
		after, _ = proc.Descriptors(os.Getpid())
	}
	if code == 0 && after > before+2 {
		println("descriptors before and after:", before, after)
		code = 1
	}
	os.Exit(code)
}

var anyPort = netip.MustParseAddrPort("127.0.0.1:0")

// serve runs a server for the length of a test. The function returned ends it
// and tells what it did.
func serve(t *testing.T, cfg server.Config) (netip.AddrPort, func() tally.Server) {
	t.Helper()
	srv, end := serving(t, cfg)
	return srv.Addresses()[0], end
}

func serving(t *testing.T, cfg server.Config) (*server.Server, func() tally.Server) {
	t.Helper()
	if cfg.Listen == nil {
		cfg.Listen = []netip.AddrPort{anyPort}
	}
	srv, err := server.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv.Count()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan tally.Server, 1)
	go func() {
		seen, err := srv.Serve(ctx)
		if err != nil {
			t.Error(err)
		}
		done <- seen
	}()
	ended := false
	end := func() (seen tally.Server) {
		if cancel(); !ended {
			ended = true
			seen = <-done
		}
		return seen
	}
	t.Cleanup(func() { end() })
	return srv, end
}

// accepting runs a server that does with each connection what it is told. It
// closes them at the test's end, unless they are closed.
func accepting(t *testing.T, serve func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(anyPort))
	if err != nil {
		t.Fatal(err)
	}
	var all []*net.TCPConn
	over := make(chan bool)
	t.Cleanup(func() {
		l.Close()
		<-over
		for _, c := range all {
			c.Close()
		}
	})
	go func() {
		defer close(over)
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return
			}
			all = append(all, c)
			go serve(c)
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// nobody is an address where nobody listens: it is taken by who does not.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		t.Cleanup(func() { unix.Close(fd) })
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: anyPort.Addr().As4()})
	}
	if err != nil {
		t.Fatal(err)
	}
	addr, err := sock.Local(fd)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// asked receives a request and returns its token.
func asked(c net.Conn, size int) (token uint64) {
	request := make([]byte, size)
	if _, err := io.ReadFull(c, request); err == nil && size >= tokenSize {
		token = binary.BigEndian.Uint64(request)
	}
	return token
}

// answer sends size bytes that begin with a token.
func answer(c net.Conn, token uint64, size int) {
	response := make([]byte, max(size, tokenSize))
	binary.BigEndian.PutUint64(response, token)
	c.Write(response[:size])
}

// exactly checks that a result has n of one outcome and nothing else.
func exactly(t *testing.T, r tally.Client, o tally.Outcome, n uint64) {
	t.Helper()
	want := tally.Outcomes{}
	want[o] = n
	if r.Outcomes != want {
		t.Errorf("outcomes %v, want %d %v (%s)", r.Outcomes, n, o, r.Cause)
	}
}

// patient has a Config wait for answers as long as that takes, unless it says
// for how long: a machine may stand still for more than the usual second.
func patient(cfg Config) Config {
	set(&cfg.Drain, time.Minute)
	return cfg
}

func mustRun(t testing.TB, cfg Config) tally.Client {
	t.Helper()
	r, err := Run(t.Context(), patient(cfg), Events{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// running is a client at work in the background.
type running struct {
	cancel   context.CancelFunc
	standing chan int
	counting chan bool
	result   chan tally.Client
}

func background(t *testing.T, cfg Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b := &running{cancel, make(chan int, 1), make(chan bool, 1), make(chan tally.Client, 1)}
	t.Cleanup(cancel)
	go func() {
		r, err := Run(ctx, patient(cfg), Events{
			Standing: func(n int) { b.standing <- n },
			Counting: func() { b.counting <- true },
		})
		if err != nil {
			t.Error(err)
		}
		b.result <- r
	}()
	return b
}

// end ends it early.
func (b *running) end() tally.Client { b.cancel(); return <-b.result }

func schedule(t testing.TB, text string) arrival.Schedule {
	t.Helper()
	s, err := arrival.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dist(t testing.TB, text string) span.Dist {
	t.Helper()
	d, err := span.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func addrs(text ...string) (ips []netip.Addr) {
	for _, ip := range text {
		ips = append(ips, netip.MustParseAddr(ip))
	}
	return ips
}
