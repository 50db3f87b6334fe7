package stage

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"

	"penstock/bench/syn/standin"
)

// reading has a stand-in read a device of the stage, until the test ends it.
func reading(t *testing.T, s *Stage, device string, at netip.AddrPort) (stop func()) {
	t.Helper()
	var p *standin.Proxy
	var err error
	s.Do(func() {
		p, err = standin.New(standin.Config{Device: device, Address: at, Limit: 5, Answer: func(b []byte) []byte { return append(b, '!') }})
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// Both devices are read after they were moved; clients and servers are apart.
func TestTaps(t *testing.T) {
	s := linked(t)
	had := devices(t, s.Place)
	for range 2 {
		l, err := s.Taps()
		if err != nil {
			t.Fatal(err)
		}
		behind := netip.AddrPortFrom(ProxyBehind.Addr(), 81)
		before, after := reading(t, s, l.Device, proxyPort), reading(t, s, l.Beyond, behind)
		for range 2 { // the second time there is nothing to do
			if err := l.Part(); err != nil {
				t.Fatal(err)
			}
		}
		reach(t, l, s)
		if answer, err := askedAt(l.Servers, ServerAddress, behind, "hey"); err != nil || answer != "hey!" {
			t.Errorf("from servers: %q %v", answer, err)
		}
		before()
		after()
		closed(t, s, l, had)
	}
}

// A link that nobody has opened is no trouble.
func TestTapsUnopened(t *testing.T) {
	s := linked(t)
	had := devices(t, s.Place)
	l, err := s.Taps()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Taps(); err == nil {
		t.Error("two of one name")
	}
	closed(t, s, l, had)
}

// A proxy on the stage has clients on one side and servers on the other.
func TestVeths(t *testing.T) {
	s := linked(t)
	had := devices(t, s.Place)
	for range 2 {
		l, err := s.Veths()
		if err != nil {
			t.Fatal(err)
		}
		at := s.AddressAt(l.Servers, ServerAddress)
		var proxy, server net.Listener
		l.Servers.Do(func() { server, err = net.Listen("tcp4", at.String()) })
		if err != nil {
			t.Fatal(err)
		}
		go answer(server)
		s.Do(func() { proxy, err = net.Listen("tcp4", proxyPort.String()) })
		if err != nil {
			t.Fatal(err)
		}
		go relay(s, proxy, at)
		reach(t, l, s)
		if err := l.Part(); err != nil {
			t.Error(err)
		}
		proxy.Close()
		server.Close()
		closed(t, s, l, had)
	}
}

// relay is a proxy of the kernel's.
func relay(s *Stage, l net.Listener, to netip.AddrPort) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			var server net.Conn
			s.Do(func() { server, err = net.Dial("tcp4", to.String()) })
			if err != nil {
				return
			}
			defer server.Close()
			go io.Copy(server, c)
			io.Copy(c, server)
		}()
	}
}
