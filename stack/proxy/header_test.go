package proxy

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxyheader"
)

var (
	far    = netip.MustParseAddrPort("192.0.2.1:1111")
	far6   = netip.MustParseAddrPort("[2001:db8::1]:1111")
	front  = netip.MustParseAddrPort("198.51.100.2:80")
	front6 = netip.MustParseAddrPort("[2001:db8::2]:80")

	v1 = string(proxyheader.AppendV1(nil, far, front))
	v2 = string(proxyheader.AppendV2(nil, far, front, 0))
)

// behindProxy has clients begin with a PROXY header.
var behindProxy = virtual(func(v *Virtual) {
	v.AcceptProxy = true
	v.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	v.ProxyHeaderTimeout = patience
})

func headerTimeout(d time.Duration) option {
	return virtual(func(v *Virtual) { v.ProxyHeaderTimeout = d })
}

// C62: where a header has to be there, whatever else a client says is refused,
// and no server hears of it. Where not, it is payload.
func TestC62HeaderOnOrOff(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy, refuse(HTTP503)) // who does not speak it gets no answer
	for i, said := range []string{"GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 1.2.3.4\r\n", "\r\n\r\n\x00\r\nQUIT\n?"} {
		c := r.dial()
		write(t, c, said)
		wantReset(t, c, "")
		e := r.wantEnd(NoHeader)
		if e.Closer != "proxy" || e.Member != -1 || e.Left != "-" || e.Code.String() != "PP" {
			t.Errorf("%+v", e)
		}
		if n := r.VirtualTotals(0); n.BadHeaders != uint64(i+1) || n.Refused != 0 {
			t.Errorf("%+v after %d", n, i+1)
		}
		until(t, func() bool { return r.VirtualTotals(0).Open == 0 }, "nobody there")
	}
	s.none(t)

	off := start(t, member(s.addr(), 0))
	c := off.dial()
	write(t, c, v1+"x")
	wantBytes(t, s.next(t), v1+"x")
}

// A client that says nothing, or not all, has so long.
func TestHeaderTimeout(t *testing.T) {
	const limit = 200 * time.Millisecond
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy, headerTimeout(limit))
	for _, said := range []string{"", "PROXY ", v2[:len(v2)-1]} {
		begun := time.Now()
		c := r.dialSaying(said)
		wantReset(t, c, "")
		if d := time.Since(begun); d < limit || d > limit+atOnce {
			t.Errorf("%q: ended after %v, want %v", said, d, limit)
		}
		r.wantEnd(NoHeader)
	}
	s.none(t)
}

// Who comes from elsewhere is not listened to.
func TestUntrustedProxy(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy,
		virtual(func(v *Virtual) { v.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} }))
	dialRefused(t, r.addr())
	r.wantEnd(NoHeader)
	s.none(t)
}

// A client that leaves before the header is whole is no client.
func TestLeavesInHeader(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy)
	for _, said := range []string{"", "PROXY TCP4 "} {
		c := r.dial()
		write(t, c, said)
		until(t, func() bool { return r.Clients() == 1 }, "accepted")
		c.CloseWrite()
		wantReset(t, c, "")
		if e := r.wantEnd(NoHeader); said != "" && e.Closer != "client" {
			t.Errorf("%+v", e)
		}
		until(t, func() bool { return r.Clients() == 0 }, "nobody there")
		c = r.dial()
		write(t, c, said)
		until(t, func() bool { return r.Clients() == 1 }, "accepted")
		reset(c)
		r.wantEnd(NoHeader)
		until(t, func() bool { return r.Clients() == 0 }, "nobody there")
	}
	s.none(t)
}

// C63: exactly the header is taken; a length that is wrong is refused.
func TestC63ExactLength(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy)
	for _, header := range []string{v1, v2} {
		c := r.dial()
		write(t, c, header+"x")
		c.CloseWrite()
		server := s.next(t)
		wantEOF(t, server, "x")
		server.Close()
		wantEOF(t, c, "")
		if e := r.wantEnd(Served); e.Client != far || e.Up != 1 {
			t.Errorf("%+v", e)
		}
	}
	for _, wrong := range []string{
		v2[:15] + string([]byte{v2[15] + 1}) + v2[16:] + "x",                                // a TLV ends before the header does
		v2[:len(v2)-9] + string([]byte{proxyheader.WaitLen + 1}) + v2[len(v2)-8:] + "xxxxx", // ... or behind it
	} {
		c := r.dial()
		write(t, c, wrong)
		wantReset(t, c, "")
		r.wantEnd(NoHeader)
	}
	s.none(t)
}

// C66: however the header is cut, the result is the same; with a slot free, and
// while another client has it.
func TestC66HeaderInPieces(t *testing.T) {
	for _, header := range []string{v1, v2} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q, busy %v", header[:5], busy), func(t *testing.T) { inPieces(t, header, busy) })
		}
	}
}

func inPieces(t *testing.T, header string, busy bool) {
	s := serve(t, echoed)
	r := start(t, member(s.addr(), 1), behindProxy)
	var holder *net.TCPConn
	if busy {
		holder = r.dial()
		write(t, holder, v1)
		r.untilInUse(1)
	}
	var running sync.WaitGroup
	cut := func(pieces ...string) {
		c := r.dial()
		running.Go(func() {
			for i, p := range pieces {
				if i > 0 {
					time.Sleep(20 * time.Millisecond) // so that they are segments
				}
				write(t, c, p)
			}
			c.CloseWrite()
			wantEOF(t, c, "payload")
		})
	}
	for k := 1; k < len(header); k++ {
		cut(header[:k], header[k:]+"payload")
	}
	cut(strings.Split(header+"payload", "")...)
	if busy {
		r.untilParked(int64(len(header)))
		holder.Close()
	}
	running.Wait()
	for range len(header) {
		e := r.end()
		if e.Up == 0 { // the holder
			e = r.end()
		}
		if e.Client != far || e.Up != 7 || busy && e.Position == 0 {
			t.Errorf("%+v", e)
		}
	}
}

// A proxy that speaks for itself, or for nobody it knows.
func TestLocalHeader(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), behindProxy)
	for _, header := range []string{
		"PROXY UNKNOWN\r\n", string(proxyheader.AppendLocal(nil, proxyheader.V2)),
	} {
		c := r.dial()
		write(t, c, header)
		server := s.next(t)
		pass(t, c, server)
		leave(t, c, server)
		if e := r.end(); e.Client != addrPort(c.LocalAddr()) {
			t.Errorf("client %v, want %v", e.Client, c.LocalAddr())
		}
	}
}

// A client that closes its side behind the header is as one that does so
// without: served if there is a slot, and gone if it has to wait.
func TestHalfCloseBehindHeader(t *testing.T) {
	for name, cut := range map[string]int{"at once": 0, "late": 5} {
		t.Run(name, func(t *testing.T) {
			s := hold(t)
			r := start(t, member(s.addr(), 1), behindProxy)
			say := func() *net.TCPConn {
				c := r.dial()
				write(t, c, v1[:cut])
				if cut > 0 {
					time.Sleep(20 * time.Millisecond)
				}
				write(t, c, v1[cut:])
				c.CloseWrite()
				return c
			}
			c := say()
			server := s.next(t)
			wantEOF(t, server, "")
			write(t, server, "hello")
			waiter := say()
			wantReset(t, waiter, "")
			r.wantEnd(ClientQuit)
			server.Close()
			wantEOF(t, c, "hello")
			r.wantEnd(Served)
			s.none(t)
		})
	}
}

// The header's source is who a client is to the dispatcher; without a header
// it is the socket's peer.
func TestSourceIsTheHeaders(t *testing.T) {
	persist := func(c *Config) {
		c.Dispatch.Virtuals[0].Persist = dispatch.Prefix{V4: 32, V6: 128}
		c.Dispatch.Virtuals[0].Timeout = dispatch.Tick(time.Minute)
	}
	a, b := hold(t), hold(t)
	r := start(t, member(a.addr(), 0), member(b.addr(), 0), behindProxy, persist, loops(1))
	went := map[int]map[int]bool{} // members by source
	for n := range 40 {
		source := n % 4
		c := r.dial()
		write(t, c, string(proxyheader.AppendV1(nil, netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(source)}), uint16(n+1)), front)))
		r.untilInUse(1)
		c.Close()
		select {
		case server := <-a.conns:
			server.Close()
		case server := <-b.conns:
			server.Close()
		}
		e := r.end()
		r.untilInUse(0)
		if went[source] == nil {
			went[source] = map[int]bool{}
		}
		went[source][e.Member] = true
	}
	all := map[int]bool{}
	for source, members := range went {
		if len(members) != 1 {
			t.Errorf("source %d went to %d members", source, len(members))
		}
		for m := range members {
			all[m] = true
		}
	}
	if len(all) != 2 {
		t.Errorf("all sources went to %d members, want 2", len(all))
	}

	plain := start(t, member(a.addr(), 0), member(b.addr(), 0), persist)
	first := -1
	for range 4 {
		c := plain.dial()
		plain.untilInUse(1)
		reset(c)
		e := plain.end()
		plain.untilInUse(0)
		if first < 0 {
			first = e.Member
		}
		if e.Member != first {
			t.Errorf("one address, members %d and %d", first, e.Member)
		}
	}
}

// The clock of the queue starts at the accept, not at the header's end.
func TestTicketIsAcceptTime(t *testing.T) {
	const dawdle = 150 * time.Millisecond
	s := hold(t)
	r := start(t, member(s.addr(), 1), behindProxy)
	holder := r.dial()
	write(t, holder, v1)
	server := s.next(t)
	early := r.dial()
	until(t, func() bool { return r.Clients() == 2 }, "two clients")
	time.Sleep(dawdle)
	late := r.dial()
	write(t, late, v1)
	r.untilParked(1)
	write(t, early, v1)
	r.untilParked(2)
	leave(t, holder, server)
	r.end()
	server = s.next(t)
	pass(t, early, server) // it was accepted first
	leave(t, early, server)
	if e := r.wantEnd(Served); e.Wait < dawdle {
		t.Errorf("waited %v, was accepted %v ago", e.Wait, dawdle)
	}
}

// C64: what is set is sent, once, first, on each connection; and a client of a
// later try is announced by the same rule.
func TestC64HeaderSent(t *testing.T) {
	for _, network := range []string{"127.0.0.1:0", "[::1]:0"} {
		for _, v := range []proxyheader.Version{proxyheader.Off, proxyheader.V1, proxyheader.V2} {
			t.Run(network+" "+v.String(), func(t *testing.T) {
				if network[0] == '[' {
					needsIPv6(t)
				}
				headerSent(t, network, v)
			})
		}
	}
}

func headerSent(t *testing.T, network string, v proxyheader.Version) {
	s := hold(t)
	r := start(t, member(refuser(t), 1), member(s.addr(), 1), tries(1),
		pool(func(p *Pool) { p.SendProxy = v }),
		virtual(func(vs *Virtual) { vs.Listen = kernel.Address{AddrPort: netip.MustParseAddrPort(network)} }))
	for range 3 { // wherever the turn is
		c := r.dial()
		server := s.next(t)
		self, at := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
		switch v {
		case proxyheader.V1:
			wantBytes(t, server, string(proxyheader.AppendV1(nil, self, at)))
		case proxyheader.V2:
			wantV2(t, server, self, at)
		}
		pass(t, c, server)
		c.CloseWrite()
		wantEOF(t, server, "")
		server.Close()
		wantEOF(t, c, "")
		if e := r.end(); e.Up != 4 || e.Down != 4 {
			t.Errorf("%+v", e)
		}
	}
}

func addrPort(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }

// wantV2 reads a header of version 2 with the given addresses, and returns the
// wait that it tells.
func wantV2(t *testing.T, c *net.TCPConn, from, to netip.AddrPort) (wait time.Duration) {
	t.Helper()
	want := proxyheader.AppendV2(nil, from, to, 0)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	for i := range proxyheader.WaitLen {
		wait = wait<<8 | time.Duration(got[len(got)-proxyheader.WaitLen+i])
	}
	wait *= time.Microsecond
	if string(got) != string(proxyheader.AppendV2(nil, from, to, wait)) {
		t.Errorf("got % x, want % x", got, want)
	}
	return wait
}

// A waiter's header tells how long it waited, and who it is by the header that
// it came with.
func TestHeaderPassedOn(t *testing.T) {
	for _, to := range [][2]netip.AddrPort{{far, front}, {far6, front6}} {
		s := hold(t)
		r := start(t, member(s.addr(), 1), behindProxy, pool(func(p *Pool) { p.SendProxy = proxyheader.V2 }))
		holder := r.dial()
		write(t, holder, string(proxyheader.AppendLocal(nil, proxyheader.V2)))
		server := s.next(t)
		if w := wantV2(t, server, addrPort(holder.LocalAddr()), r.addr()); w != 0 {
			t.Errorf("the first one waited %v", w)
		}
		waiter := r.dial()
		write(t, waiter, string(proxyheader.AppendV1(nil, to[0], to[1]))+"ping")
		r.untilParked(1)
		r.isolated(func(int64) {
			for i, w := range r.workers {
				for c := uint32(1); c < w.clients.Cap(); c++ {
					if w.clients.At(c).state == parked && r.ClientOf(i, c) != to[0] {
						t.Errorf("%v waits, want %v", r.ClientOf(i, c), to[0])
					}
				}
			}
		})
		leave(t, holder, server)
		server = s.next(t)
		wait := wantV2(t, server, to[0], to[1])
		wantBytes(t, server, "ping")
		leave(t, waiter, server)
		r.end()
		if e := r.end(); e.Wait.Truncate(time.Microsecond) != wait || wait == 0 || e.Up != 4 || e.Client != to[0] {
			t.Errorf("told %v: %+v", wait, e)
		}
	}
}

// Addresses that were kept go with their sessions.
func TestTargetsAreForgotten(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0), behindProxy)
	for range 100 {
		c := r.dial()
		write(t, c, v2+"x")
		wantEOF(t, c, "x")
		c.Close()
		r.end()
	}
	r.isolated(func(int64) {
		for _, w := range r.workers {
			if n := len(w.targets); n != 0 {
				t.Errorf("%d addresses are kept", n)
			}
		}
	})
}
