package stage

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/syn"
	"penstock/bench/syn/standin"
	"penstock/bench/tally"
)

// linked is a stage that can have links.
func linked(t *testing.T) *Stage {
	t.Helper()
	s := open(t)
	if err := s.Links(); err != nil {
		t.Skip(err)
	}
	return s
}

// devices are those of a place. A kernel may have some in every network, besides
// loopback, as those of its tunnels.
func devices(t *testing.T, p *Place) (names []string) {
	t.Helper()
	p.Do(func() {
		all, err := net.Interfaces()
		if err != nil {
			t.Error(err)
		}
		for _, i := range all {
			names = append(names, i.Name)
		}
	})
	return names
}

// closed closes a link, of which nothing is left: the stage has the devices that it
// had before.
func closed(t *testing.T, s *Stage, l *Link, before []string) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if now := devices(t, s.Place); !slices.Equal(now, before) {
		t.Errorf("the devices are %v, and were %v", now, before)
	}
}

// asked connects from an address of the clients, and says what came back.
func asked(p *Place, from netip.Addr, word string) (answer string, err error) {
	return askedAt(p, from, proxyPort, word)
}

func askedAt(p *Place, from netip.Addr, at netip.AddrPort, word string) (answer string, err error) {
	p.Do(func() {
		d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: soon}
		var c net.Conn
		if c, err = d.Dial("tcp4", at.String()); err != nil {
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(soon))
		var text []byte
		io.WriteString(c, word)
		text, err = io.ReadAll(c)
		answer = string(text)
	})
	return answer, err
}

var proxyPort = netip.AddrPortFrom(ProxyAddress.Addr(), 80)

// Clients of the kernel and those of a generator reach who reads the TAP, and
// nothing of the link is left.
func TestTap(t *testing.T) {
	s := linked(t)
	before := devices(t, s.Place)
	for range 2 {
		l, err := s.Tap()
		if err != nil {
			t.Fatal(err)
		}
		var p *standin.Proxy
		s.Do(func() {
			p, err = standin.New(standin.Config{Device: l.Device, Address: proxyPort, Limit: 5, Answer: func(b []byte) []byte { return append(b, '!') }})
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { p.Run(ctx); close(done) }()
		reach(t, l, s)
		cancel()
		<-done
		closed(t, s, l, before)
	}
}

func reach(t *testing.T, l *Link, s *Stage) {
	t.Helper()
	if err := l.Answers(t.Context(), shell(t, t.Context(), s, "sleep 100"), soon); err != nil {
		t.Error(err)
	}
	for _, n := range []byte{1, 2, 127, 255} {
		if answer, err := asked(l.Clients, ClientNet(n).Next().Next(), "hey"); err != nil || answer != "hey!" {
			t.Errorf("from network %d: %q %v", n, answer, err)
		}
	}
	saw, err := generated(t, l)
	if err != nil || saw.Outcomes[tally.Served] == 0 || saw.Outcomes[tally.Served] != saw.Outcomes.Sum() {
		t.Errorf("generator: %+v %v", saw.Outcomes, err)
	}
}

// generated is what a generator saw, that has three-byte requests answered.
func generated(t *testing.T, l *Link) (saw tally.Client, err error) {
	cfg := syn.Config{
		Device: l.Device, Target: proxyPort, From: netip.MustParsePrefix("198.19.0.0/16"), Work: syn.Short, Flows: 5, Rate: 1000,
		Again: syn.None, Request: 3, Response: 4, End: syn.Fin, For: 500 * time.Millisecond, Drain: time.Minute,
	}
	l.Clients.Do(func() { saw, err = syn.Run(t.Context(), cfg, syn.Events{}) })
	return saw, err
}

func TestVeth(t *testing.T) {
	s := linked(t)
	before := devices(t, s.Place)
	for range 2 {
		l, err := s.Veth()
		if err != nil {
			t.Fatal(err)
		}
		var listener net.Listener
		s.Do(func() { listener, err = net.Listen("tcp4", proxyPort.String()) })
		if err != nil {
			t.Fatal(err)
		}
		go answer(listener)
		reach(t, l, s)
		listener.Close()
		closed(t, s, l, before)
	}
}

// answer gives three bytes back to each, with one more.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			b := make([]byte, 3)
			io.ReadFull(c, b)
			fmt.Fprintf(c, "%s!", b)
		}()
	}
}

// A proxy that is silent, or ends, is told of with its words.
func TestAnswersInVain(t *testing.T) {
	s := linked(t)
	l, err := s.Tap()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Answers(t.Context(), shell(t, t.Context(), s, "sleep 100"), time.Millisecond); err == nil || !strings.Contains(err.Error(), "sh does not answer on tap0") {
		t.Error(err)
	}
	c := shell(t, t.Context(), s, "echo no such flag >&2; exit 1")
	if err := l.Answers(t.Context(), c, soon); err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Error(err)
	}
}

// A second link while there is one is an error, and leaves the first.
func TestTwoLinks(t *testing.T) {
	s := linked(t)
	l, err := s.Tap()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tap(); err == nil {
		t.Error("two of one name")
	}
	_ = l.Close()
}

func TestNoLinks(t *testing.T) {
	s := &Stage{Network: "the machine's network"}
	if _, err := s.Tap(); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Error(err)
	}
	if _, err := s.Veth(); err == nil || !strings.Contains(err.Error(), "the machine's network") {
		t.Error(err)
	}
}
