package syn

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"penstock/bench/server"
	"penstock/bench/syn/standin"
	"penstock/bench/tally"
	"penstock/bench/wire"
	"penstock/bench/wire/nettest"
)

var target = netip.MustParseAddrPort("198.18.0.100:80")

// config reads flags as they are given.
func config(t *testing.T, args string) (c Config) {
	t.Helper()
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	c.Bind(fs)
	if err := fs.Parse(strings.Fields("-device tap0 -target 198.18.0.100:80 " + args)); err != nil {
		t.Fatal(err)
	}
	return c
}

// parking is a stand-in for a proxy, in a network of its own. Each response is
// the request and what fills it up to the response's size.
func parking(t *testing.T, limit int, delay time.Duration) *standin.Proxy {
	t.Helper()
	nettest.Enter(t)
	nettest.Tap(t, "tap0")
	p, err := standin.New(standin.Config{Device: "tap0", Address: target, Limit: limit, Answer: func(request []byte) []byte {
		time.Sleep(delay)
		return append(request, make([]byte, 256-len(request))...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return p
}

func ran(t *testing.T, args string, on Events) tally.Client {
	t.Helper()
	saw, err := Run(t.Context(), config(t, args), on)
	if err != nil {
		t.Fatal(err)
	}
	return saw
}

// until waits for what must come.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Error("not in time: ", what)
			return
		}
	}
}

// Who waits is served in turn; how long a slot stood empty is measured.
func TestShort(t *testing.T) {
	const delay = time.Millisecond
	p := parking(t, 2, delay)
	var counting bool
	saw := ran(t, "-flows 200 -rate 20000 -warm 50ms -for 1s -drain 1m", Events{Counting: func() { counting = true }})
	h := saw.Handshakes
	until(t, "the last SYN at the proxy", func() bool { return p.Counts().Parked >= int(h.Sent) })
	c := p.Counts()
	served := saw.Outcomes[tally.Served]
	if !counting || served == 0 || saw.Outcomes.Sum() != served || saw.Latency.Count() != int64(served) || saw.Cause != "" {
		t.Errorf("%+v", saw.Outcomes)
	}
	const slots = 2
	if most := int64(served)*9/10 - slots; h.Release.Count() < most || h.First.Count() < most {
		t.Errorf("%d served, %d releases, %d first bytes", served, h.Release.Count(), h.First.Count())
	}
	if r, f := h.Release.Percentile(50), h.First.Percentile(50); r < 1 || f < r+float64(delay/time.Microsecond) {
		t.Errorf("released after %v µs, the first byte after %v", r, f)
	}
	if int(h.Sent) != c.Parked || c.Bad != 0 || h.Dropped != 0 || h.Missed != 0 || h.Sent < served {
		t.Errorf("%+v, the proxy: %+v", h, c)
	}
}

// Who stands to the end is held, and keeps on trying.
func TestHold(t *testing.T) {
	p := parking(t, 3, 0)
	ctx, cancel := context.WithCancel(t.Context())
	const waiting = 5000 - 3
	standing := 0
	begun := time.Now()
	saw, err := Run(ctx, config(t, "-work hold -flows 5000 -rate 0 -response 0"), Events{Standing: func(n int) {
		standing = n
		go func() {
			until(t, "each that waits again", func() bool { return p.Counts().Again >= waiting })
			cancel()
		}()
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := saw.Handshakes
	rounds := uint64(time.Since(begun) / time.Second) // in the beginning one a second: as many as there was time for
	until(t, "the last SYN at the proxy", func() bool { return p.Counts().Again >= int(h.Again) })
	c := p.Counts()
	if standing != 5000 || saw.Outcomes[tally.Served] != 5000 || c.Parked != 5000 {
		t.Errorf("%d stand, %+v, %+v", standing, saw.Outcomes, c)
	}
	if h.Again < waiting || h.Again > rounds*waiting || c.Again != int(h.Again) || h.Answered != 3 || h.Filling <= 0 {
		t.Errorf("%+v, the proxy: %+v: want each that waits to come again, %d times at most", h, c, rounds)
	}
}

// Who leaves by a reset is known to have left.
func TestLeave(t *testing.T) {
	p := parking(t, 1, 0)
	ran(t, "-flows 1000 -rate 0 -warm 0s -for 500ms -leave reset", Events{})
	until(t, "all are gone, but who is served", func() bool {
		c := p.Counts()
		return c.Left > 0 && c.Left+c.Served >= c.Parked-1
	})
	if c := p.Counts(); c.Left+c.Served > c.Parked || c.Left < 900 {
		t.Errorf("%+v", c)
	}
}

// A flood is counted and never answers.
func TestFlood(t *testing.T) {
	p := parking(t, 1, 0)
	saw := ran(t, "-work flood -rate 20000 -warm 50ms -for 200ms", Events{Counting: func() {
		until(t, "the first is answered", func() bool { return p.Counts().Released == 1 })
	}})
	h := saw.Handshakes
	until(t, "the last SYN at the proxy", func() bool { return p.Counts().Parked >= int(h.Sent-h.Dropped) })
	c := p.Counts()
	if c.Parked != int(h.Sent-h.Dropped) || c.Bad != 0 || c.Again != 0 || h.Again != 0 || c.Served != 0 || saw.Outcomes.Sum() != 0 {
		t.Errorf("%+v, the proxy: %+v", h, c)
	}
	if rate := float64(h.Counted) / saw.Seconds; rate <= 0 || rate > 2*20_000 { // what is late is sent at once
		t.Errorf("%v a second", rate)
	}
	if waiting, connected := p.Waiting(); waiting != c.Parked-1 || connected != 1 || h.Answered != 1 {
		t.Errorf("%d wait, %d are connected, %d were answered", waiting, connected, h.Answered)
	}
}

// Against the kernel's TCP every connection is served, however it ends, and
// servers find their tokens in order.
func TestAgainstLinux(t *testing.T) {
	for _, end := range []string{"fin", "reset"} {
		t.Run(end, func(t *testing.T) {
			srv, stop := serve(t)
			saw := ran(t, "-flows 50 -again none -warm 50ms -for 1s -drain 1m -end "+end, Events{})
			until(t, "the last resets, which leave none open", func() bool { open, _ := srv.Now(); return open == 0 })
			sum := stop()
			served := saw.Outcomes[tally.Served]
			if served == 0 || saw.Outcomes.Sum() != served {
				t.Errorf("%+v", saw.Outcomes)
			}
			m := sum.Members[0]
			if m.Accepted < int64(served) || sum.Wait.Count() < int64(served) {
				t.Errorf("%+v, %d waits", m, sum.Wait.Count())
			}
		})
	}
}

// serve runs a server of the kernel's TCP at the other end of a link.
func serve(t *testing.T) (srv *server.Server, stop func() tally.Server) {
	t.Helper()
	nettest.Enter(t)
	nettest.Veth(t, "tap0", "other")
	port, err := wire.Find("tap0")
	if err != nil {
		t.Fatal(err)
	}
	nettest.IP(t, "addr add 198.18.0.100/32 dev other")
	nettest.IP(t, "route add 198.18.0.0/15 via 198.18.0.1 dev other onlink")
	nettest.IP(t, "neigh add 198.18.0.1 lladdr "+port.MAC.String()+" dev other nud permanent")
	srv, err = server.Listen(server.Config{Listen: []netip.AddrPort{target}, Then: server.Close, Request: 64, Response: 256})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sum := make(chan tally.Server, 1)
	go func() {
		s, _ := srv.Serve(ctx)
		sum <- s
	}()
	return srv, func() tally.Server { cancel(); return <-sum }
}

// A port that nobody listens on refuses, which is counted.
func TestRefused(t *testing.T) {
	_, stop := serve(t)
	defer stop()
	cfg := config(t, "-flows 10 -rate 1000 -again none -warm 0s -for 1s")
	cfg.Target = netip.AddrPortFrom(target.Addr(), 81)
	saw, err := Run(t.Context(), cfg, Events{})
	if n := saw.Outcomes[tally.Refused]; err != nil || n < 10 || saw.Outcomes.Sum() != n {
		t.Errorf("%v %v", saw.Outcomes, err)
	}
}

func TestNobodyThere(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "tap0", "other")
	if _, err := wire.Resolve(wire.Port{Name: "tap0"}, target.Addr(), target.Addr(), 0); err == nil {
		t.Error("resolved on no device")
	}
	cfg := config(t, "")
	cfg.Device = "tap1"
	if _, err := Run(t.Context(), cfg, Events{}); err == nil || !strings.Contains(err.Error(), "tap1") {
		t.Error(err)
	}
}

// The command says what package client's says.
func TestCommand(t *testing.T) {
	parking(t, 1, 0)
	var out bytes.Buffer
	err := Command(t.Context(), strings.Fields("-wait -device tap0 -target 198.18.0.100:80 -flows 20 -warm 10ms -for 500ms"), strings.NewReader("go\n"), &out, t.Output())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var saw tally.Client
	if err != nil || len(lines) != 3 || lines[0] != `{"ready":true}` || lines[1] != `{"counting":true}` || json.Unmarshal([]byte(lines[2]), &saw) != nil {
		t.Fatal(err, out.String())
	}
	if saw.Outcomes[tally.Served] == 0 || saw.Handshakes == nil || saw.Handshakes.Release.Count() == 0 {
		t.Errorf("%+v", saw)
	}
}

// The generator measures itself, and all that is sent arrives.
func TestSinks(t *testing.T) {
	for _, sink := range []string{Veth, Tap} {
		t.Run(sink, func(t *testing.T) {
			nettest.Enter(t) // to see whether that is allowed
			runtime.LockOSThread()
			var out bytes.Buffer
			if err := Command(t.Context(), strings.Fields("-rate 20000 -warm 10ms -for 500ms -sink "+sink), nil, &out, t.Output()); err != nil {
				t.Fatal(err)
			}
			var printed struct{ Figures map[string]float64 }
			if err := json.Unmarshal(out.Bytes(), &printed); err != nil || printed.Figures["SYN/s"] <= 0 || printed.Figures["SYN/s"] > 2*20_000 {
				t.Error(out.String(), err)
			}
		})
	}
}
