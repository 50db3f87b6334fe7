package load

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/proc"
)

var anyPort = netip.MustParseAddrPort("127.0.0.1:0")

// serve runs a server for the length of a test. The function returned ends it
// and tells what it did.
func serve(t *testing.T, cfg ServerConfig) (netip.AddrPort, func() Counts) {
	t.Helper()
	cfg.Listen = anyPort
	srv, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan Counts, 1)
	go func() {
		counts, err := srv.Serve(ctx)
		if err != nil {
			t.Error(err)
		}
		done <- counts
	}()
	ended := false
	end := func() (c Counts) {
		if cancel(); !ended {
			ended = true
			c = <-done
		}
		return c
	}
	t.Cleanup(func() { end() })
	return srv.Address(), end
}

// exactly checks that a result has n of one outcome and nothing else.
func exactly(t *testing.T, r Result, o Outcome, n uint64) {
	t.Helper()
	want := Outcomes{}
	want[o] = n
	if r.Outcomes != want {
		t.Errorf("outcomes %v, want %d %v (%s)", r.Outcomes, n, o, r.Cause)
	}
}

func mustRun(t *testing.T, cfg Config) Result {
	t.Helper()
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShortCountsEach(t *testing.T) {
	for _, loops := range []int{1, 3} {
		addr, end := serve(t, ServerConfig{Loops: loops, Request: 10, Response: 1000, Then: Close})
		r := mustRun(t, Config{
			Target: addr, Work: Short, Flows: 7, Loops: loops, Request: 10, Response: 1000, Total: 500,
			Sources: []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")},
		})
		exactly(t, r, Served, 500)
		counts := end()
		if counts.Accepted != 500 || counts.Requests != 500 || counts.Bytes != 500_000 || r.Bytes != 500_000 {
			t.Errorf("server %+v, client received %d bytes", counts, r.Bytes)
		}
		if counts.MaxOpen < 1 || counts.MaxOpen > 7 {
			t.Errorf("%d connections at a time, of 7", counts.MaxOpen)
		}
		if r.Latency.P50 <= 0 || r.Latency.P50 > r.Latency.Max {
			t.Errorf("latency %+v", r.Latency)
		}
	}
}

func TestKeepCountsEach(t *testing.T) {
	// Messages larger than any buffer: both ends stop in the middle and go on.
	const request, response = 9 << 20, 7 << 20
	addr, end := serve(t, ServerConfig{Request: request, Response: response, Then: Stay})
	r := mustRun(t, Config{Target: addr, Work: Keep, Flows: 3, Request: request, Response: response, Total: 20})
	exactly(t, r, Served, 20)
	if counts := end(); counts.Accepted != 3 || counts.Requests != 20 || r.Bytes != 20*response {
		t.Errorf("server %+v, client received %d bytes", counts, r.Bytes)
	}
}

func TestBulkReceivesFromEach(t *testing.T) {
	addr, _ := serve(t, ServerConfig{Request: 1, Then: Stream})
	r := mustRun(t, Config{Target: addr, Work: Bulk, Flows: 4, Request: 1, For: 100 * time.Millisecond, Watch: []int{os.Getpid()}})
	exactly(t, r, Served, 4)
	if r.Bytes < 1<<20 || r.CPU <= 0 || r.Watched[os.Getpid()] <= 0 {
		t.Errorf("%+v", r)
	}
}

// keep runs Hold until it is ready and returns how many stand and the end.
func keep(t *testing.T, cfg Config) (standing int, end func() Result) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	ready, done := make(chan int, 1), make(chan Result, 1)
	go func() {
		r, err := Hold(ctx, cfg, func(n int) { ready <- n })
		if err != nil {
			t.Error(err)
			ready <- -1
		}
		done <- r
	}()
	return <-ready, func() Result { cancel(); return <-done }
}

func TestHoldKeeps(t *testing.T) {
	for _, ask := range []int{0, 10} {
		addr, end := serve(t, ServerConfig{Request: 10, Response: 20, Then: Stay})
		n, stop := keep(t, Config{Target: addr, Flows: 300, Request: ask, Response: 20, Rate: 1 << 20})
		if n != 300 {
			t.Errorf("%d stand", n)
		}
		exactly(t, stop(), Served, 300)
		if counts := end(); counts.MaxOpen != 300 || counts.Requests != int64(ask*30) {
			t.Errorf("%+v", counts)
		}
	}
}

func TestHoldSeesTheEnd(t *testing.T) {
	closed := make(chan bool, 5)
	addr := accepting(t, func(c *net.TCPConn) { c.Close(); closed <- true })
	_, stop := keep(t, Config{Target: addr, Flows: 5, Rate: 1 << 20})
	for range 5 {
		<-closed
	}
	time.Sleep(300 * time.Millisecond) // the ends are on their way; nothing tells that they were seen
	exactly(t, stop(), Empty, 5)
}

// accepting runs a server that does with each connection what it is told.
func accepting(t *testing.T, serve func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(anyPort))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func TestOutcomesAreToldApart(t *testing.T) {
	reply := func(n int) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			c.Read(make([]byte, 10))
			c.Write(make([]byte, n))
			c.Close()
		}
	}
	for _, test := range []struct {
		want  Outcome
		serve func(*net.TCPConn)
	}{
		{Empty, reply(0)},
		{Truncated, reply(19)},
		{Served, reply(20)},
		{Excess, reply(21)},
		{Reset, func(c *net.TCPConn) {
			c.Read(make([]byte, 10))
			c.SetLinger(0)
			c.Close()
		}},
		{Reset, func(c *net.TCPConn) { // after half a response
			c.Read(make([]byte, 10))
			c.Write(make([]byte, 10))
			c.SetLinger(0)
			c.Close()
		}},
	} {
		cfg := Config{Target: accepting(t, test.serve), Work: Short, Flows: 2, Request: 10, Response: 20, Total: 6}
		exactly(t, mustRun(t, cfg), test.want, 6)
	}
}

func TestRefused(t *testing.T) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(anyPort))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := mustRun(t, Config{Target: l.Addr().(*net.TCPAddr).AddrPort(), Work: Short, Flows: 1, Request: 1, Response: 1, Total: 3})
	exactly(t, r, Refused, 3)
}

// A full accept queue leaves a SYN unanswered.
func TestConnectTimeout(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	addr, _ := local(fd)
	c, err := net.Dial("tcp", addr.String()) // the one that a backlog of 0 has room for
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := mustRun(t, Config{
		Target: addr, Work: Short, Flows: 2, Request: 1, Response: 1, Total: 2,
		ConnectTimeout: 50 * time.Millisecond,
	})
	exactly(t, r, Timeout, 2)
}

func TestLocalFailureSaysWhy(t *testing.T) {
	addr, _ := serve(t, ServerConfig{Request: 1, Response: 1, Then: Close})
	r := mustRun(t, Config{
		Target: addr, Work: Short, Flows: 1, Request: 1, Response: 1, Total: 2,
		Sources: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, // nobody's
	})
	if exactly(t, r, Local, 2); r.Cause == "" {
		t.Error("no cause")
	}
}

// Who is cancelled gets what there is.
func TestCancel(t *testing.T) {
	addr := accepting(t, func(*net.TCPConn) {})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := Run(ctx, Config{Target: addr, Work: Short, Flows: 1, Request: 1, Response: 1, Total: 1})
	if err != nil {
		t.Fatal(err)
	}
	exactly(t, r, Served, 0)
}

func TestIPv6(t *testing.T) {
	srv, err := Listen(ServerConfig{Listen: netip.MustParseAddrPort("[::1]:0"), Request: 1, Response: 1, Then: Close})
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { srv.Serve(ctx); close(done) }()
	exactly(t, mustRun(t, Config{Target: srv.Address(), Work: Short, Flows: 1, Request: 1, Response: 1, Total: 5}), Served, 5)
	cancel()
	<-done
}

func TestOutcomesJSON(t *testing.T) {
	a := Outcomes{Served: 3, Local: 1}
	text, err := json.Marshal(a)
	if err != nil || string(text) != `{"local":1,"served":3}` {
		t.Fatal(string(text), err)
	}
	b := Outcomes{Reset: 9}
	if err := json.Unmarshal(text, &b); err != nil || a != b {
		t.Error(b, err)
	}
	if err := json.Unmarshal([]byte(`{"lsot":1}`), &b); err == nil {
		t.Error("a name that is none")
	}
	if a.Lost() != 1 {
		t.Error(a.Lost())
	}
}

func TestConfigMistakes(t *testing.T) {
	good := Config{Target: netip.MustParseAddrPort("127.0.0.1:1"), Work: Short, Flows: 1, Request: 1, Response: 1, Total: 1}
	for name, spoil := range map[string]func(*Config){
		"target":   func(c *Config) { c.Target = netip.AddrPort{} },
		"work":     func(c *Config) { c.Work = "shrot" },
		"flows":    func(c *Config) { c.Flows = 0 },
		"request":  func(c *Config) { c.Request = 0 },
		"response": func(c *Config) { c.Response = 0 },
		"time":     func(c *Config) { c.Total = 0 },
		"bulk":     func(c *Config) { c.Work = Bulk },
	} {
		c := good
		if spoil(&c); c.complete() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := good.complete(); err != nil {
		t.Error(err)
	}
}

func TestShares(t *testing.T) {
	c := Config{Flows: 10, Total: 23, Rate: 5, Loops: 4}
	var flows, total, rate int
	for i := range c.Loops {
		s := c.share(i)
		if s.Flows < 2 || s.Total < 5 || s.Rate < 1 {
			t.Errorf("loop %d: %+v", i, s)
		}
		flows, total, rate = flows+s.Flows, total+s.Total, rate+s.Rate
	}
	if flows != 10 || total != 23 || rate != 5 {
		t.Error(flows, total, rate)
	}
}

// No request may allocate: the collector's work would show in the figures.
func TestNoAllocations(t *testing.T) {
	addr, _ := serve(t, ServerConfig{Request: 1, Response: 1, Then: Close})
	cfg := Config{Target: addr, Work: Short, Flows: 1, Request: 1, Response: 1, Total: 1}
	few := testing.AllocsPerRun(5, func() { mustRun(t, cfg) })
	cfg.Total = 1000
	if many := testing.AllocsPerRun(5, func() { mustRun(t, cfg) }); many > few+50 {
		t.Errorf("%v allocations for 1000 connections, %v for 1", many, few)
	}
}

// The package leaves no descriptor behind.
func TestMain(m *testing.M) {
	before, _ := proc.Descriptors(os.Getpid())
	code := m.Run()
	if after, _ := proc.Descriptors(os.Getpid()); code == 0 && after > before+2 { // the runtime's own poller
		println("descriptors before and after:", before, after)
		code = 1
	}
	os.Exit(code)
}
