package cases

import (
	be "encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// Where a header is wanted it must be there; where not, it is payload.
func TestC62HeaderIsNotGuessed(t *testing.T) {
	t.Parallel()
	header := headerV1("192.0.2.1:1000", "192.0.2.2:80")
	t.Run("on", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", nil)
		p := setup{virtual: accepting + ",proxy-header-timeout=1s", members: []string{a.limit(1)}}.start(t)
		for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "PROXY\r\n", "PROXY TCP4 1.2.3.4\r\n", "\r\n\r\nquit", signature + "\x31\x11\x00\x00"} {
			c := p.connect()
			if _, err := c.Write([]byte(text)); endOf(err) != byReset { // for which nothing has come in time
				c.refused(atOnce)
			}
			c.Close()
		}
		silent := p.connect()
		silent.refused(patience)
		between(t, "a silent one", time.Since(silent.at), time.Second, 1100*time.Millisecond)
		half := p.connect()
		half.say(header[:20])
		half.CloseWrite()
		half.refused(atOnce)
		if n := a.total.Load(); n != 0 {
			t.Errorf("%d dials", n)
		}
		await(t, atOnce, "7 bad headers", func() bool { return p.metric(`penstock_virtual_bad_headers_total{virtual="v"}`) == 7 })
	})
	t.Run("not trusted", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", nil)
		p := setup{virtual: "accept-proxy-protocol=on,trusted-proxies=127.0.0.2/192.0.2.0/24", members: []string{a.limit(1)}}.start(t)
		if c, err := p.dial("127.0.0.3"); err == nil { // or it is reset already
			if _, err := c.Write([]byte(header)); endOf(err) != byReset {
				c.refused(atOnce)
			}
			c.Close()
		}
		c := p.from("127.0.0.2")
		c.say(header + "hello\n")
		v := a.next(patience)
		if text, _ := v.line(); text != "hello" {
			t.Errorf("the server read %q", text)
		}
		v.end()
		c.Close()
	})
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", nil)
		p := setup{members: []string{a.limit(1)}}.start(t)
		c := p.connect()
		c.say(header)
		c.CloseWrite()
		v := a.next(patience)
		if text := v.rest(); text != header {
			t.Errorf("the server read %q", text)
		}
		v.end()
		c.Close()
	})
}

// Bytes behind the header are payload; lengths in it that disagree are refused.
func TestC63LengthsInHeader(t *testing.T) {
	t.Parallel()
	const from, to = "192.0.2.1:1000", "192.0.2.2:80"
	a := listen(t, "A", nil)
	p := setup{virtual: accepting, members: []string{a.limit(1)}}.start(t)
	good := []string{
		headerV2(from, to, ""), headerV2(from, to, tlv(0x04, "noop")), headerV2(from, to, tlv(0x02, "host")+tlv(0x04, "")),
		rawV2(0x20, 0x00, ""), headerV1(from, to), "PROXY UNKNOWN\r\n",
	}
	for i, text := range good {
		c := p.connect()
		c.say(text + "x")
		c.CloseWrite()
		v := a.next(patience)
		if got := v.rest(); got != "x" {
			t.Errorf("good header %d: the server read %q; want x", i, got)
		}
		v.end()
		c.ends(patience)
		c.Close()
	}
	bad := []string{
		headerV2(from, to, "\x04\x00\x09noop"),                  // past the end
		headerV2(from, to, tlv(0x04, "noop")+"\x04"),            // not ending at the end
		headerV2(from, to, tlv(0x04, "noop")+"\x04\x00"),        // ... of the header
		rawV2(0x21, 0x11, "\xc0\x00\x02\x01\xc0\x00\x02"),       // no room for the addresses
		rawV2(0x21, 0x11, strings.Repeat("\x04\x00\x00", 2000)), // more than is read
	}
	for i, text := range bad {
		c := p.connect()
		c.Write([]byte(text + "x"))
		if how, said := c.ends(patience); how != byReset || said != "" {
			t.Errorf("bad header %d: %s with %q", i, how, said)
		}
		c.Close()
	}
	a.nobody(20 * time.Millisecond)
	if n := int(a.total.Load()); n != len(good) {
		t.Errorf("%d dials; want %d", n, len(good))
	}
}

// The header that is set is sent, exactly, once and first.
func TestC64SentAsSet(t *testing.T) {
	for _, version := range []string{"off", "v1", "v2"} {
		for _, host := range []string{"127.0.0.1", "::1"} {
			t.Run(version+" "+host, func(t *testing.T) {
				t.Parallel()
				a := listen(t, "A", nil)
				p := setup{
					virtual: "listen=" + net.JoinHostPort(host, "0"),
					pool:    "reselect-tries=1,send-proxy-protocol=" + version,
					members: []string{a.limit(1), refusing(t)},
				}.start(t)
				for range 2 { // one of them is sent to A after the other refused
					c := p.connect()
					c.say("PROXY?\n")
					v := a.next(patience)
					if version != "off" {
						sentFor(t, v.header(t), version, c)
					}
					if text, err := v.line(); text != "PROXY?" || err != nil {
						t.Errorf("then the server read %q %v", text, err)
					}
					v.end()
					c.ends(patience)
					c.Close()
				}
			})
		}
	}
}

// sentFor says that a header tells of a client.
func sentFor(t *testing.T, h header, version string, c *client) {
	t.Helper()
	from, to := netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(c.RemoteAddr().String())
	if "v"+itoa(h.version) != version || h.local || h.from != from || h.to != to {
		t.Errorf("%+v; want %s for %v to %v", h, version, from, to)
	}
}

// A waiter whose dial was refused goes back to its place: one header all the
// same, and in version 2 with the time it waited.
func TestC64HeaderOfRequeued(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{
				loops: 1,
				pool:  "reselect-tries=1,send-proxy-protocol=" + version, members: []string{a.limit(1), refusing(t)},
			}.start(t)
			holder := p.polite(1)[0]
			v := a.next(patience)
			c := p.connect()
			p.awaitDepth(1)
			await(t, atOnce, "requeued once", func() bool { return p.pool().Requeued == 1 })
			time.Sleep(100 * time.Millisecond)
			v.end()
			v = a.next(patience)
			h := v.header(t)
			sentFor(t, h, version, c)
			if version == "v2" {
				waited := time.Duration(be.BigEndian.Uint64([]byte(h.tlvs[0xE0]))) * time.Microsecond
				within20(t, "the time in the queue", waited, 100*time.Millisecond, v.at.Sub(c.at))
			}
			c.CloseWrite()
			if text := v.rest(); text != "" {
				t.Errorf("then the server read %q", text)
			}
			v.end()
			c.ends(patience)
			c.Close()
			holder.Close()
		})
	}
}

// What a header says of the client is passed on in the next one, and is what
// persistence and the log go by.
func TestHeaderIsBelieved(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	b := a.beside("B")
	p := setup{
		virtual: accepting + ",persist=source", pool: "send-proxy-protocol=v1", loops: 1,
		members: []string{a.limit(50), b.limit(50)},
	}.start(t)
	for _, from := range []string{"192.0.2.1", "2001:db8::1"} {
		to := map[bool]string{true: "[2001:db8::2]:80", false: "192.0.2.2:80"}[strings.Contains(from, ":")]
		var first *server
		for i := range 6 {
			at := net.JoinHostPort(from, itoa(1000+i))
			c := p.connect()
			c.say(headerV2(at, to, ""))
			v := a.next(patience)
			if h := v.header(t); h.from.String() != at || h.to.String() != to {
				t.Errorf("passed on: %v to %v; want %s to %s", h.from, h.to, at, to)
			}
			if first == nil {
				first = v.server
			}
			if v.server != first {
				t.Errorf("client %d of %s is on %s; want %s", i, from, v.server.name, first.name)
			}
			v.end()
			c.ends(patience)
			c.Close()
		}
	}
	clients := map[string]bool{}
	for _, line := range p.awaitLog(12) {
		clients[line["client"]] = true
	}
	if !clients["192.0.2.1:1005"] || !clients["[2001:db8::1]:1005"] {
		t.Errorf("clients in the log: %v", clients)
	}
}

// Checks don't announce themselves as a client.
func TestC65ChecksAreLocal(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			setup{
				pool: "monitor=tcp,monitor-interval=100ms,monitor-timeout=10s,send-proxy-protocol=" + version, members: []string{a.limit(1)},
			}.start(t)
			for range 3 {
				v := a.next(patience)
				h := v.header(t)
				if "v"+itoa(h.version) != version || !h.local {
					t.Errorf("%+v; want a local one of %s", h, version)
				}
				if text := v.rest(); text != "" {
					t.Errorf("then the server read %q", text)
				}
				v.end()
			}
		})
	}
}

// A header in two segments is one header, wherever it is cut, and whether
// there is a slot or not.
func TestC66HeaderInPieces(t *testing.T) {
	const from, to = "192.0.2.1:1000", "192.0.2.2:80"
	for name, header := range map[string]string{"v1": headerV1(from, to), "v2": headerV2(from, to, tlv(0x04, "noop"))} {
		for _, parked := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " parked", false: ""}[parked], func(t *testing.T) {
				t.Parallel()
				inPieces(t, header, parked)
			})
		}
	}
}

func inPieces(t *testing.T, header string, parked bool) {
	t.Helper()
	a := listen(t, "A", nil)
	limit := 2 * len(header)
	p := setup{virtual: accepting, members: []string{a.limit(limit)}, pool: "connection-limit=" + itoa(limit)}.start(t)
	if parked {
		p.state(a, "offline")
	}
	var all sync.WaitGroup
	for cut := 1; cut < len(header); cut++ {
		c := p.connect()
		all.Go(func() {
			c.Write([]byte(header[:cut]))
			time.Sleep(20 * time.Millisecond)
			c.Write([]byte(header[cut:] + itoa(cut) + "\n"))
			if name := c.greeting(patience); name != "A" {
				t.Errorf("cut after %d: greeted with %q", cut, name)
			}
			c.Close()
		})
	}
	if parked {
		p.awaitDepth(len(header) - 1)
		p.state(a, "enabled")
	}
	seen := map[string]bool{}
	for range len(header) - 1 {
		v := a.next(patience)
		text, _ := v.line()
		seen[text] = true
		v.greet()
		v.end()
	}
	all.Wait()
	if len(seen) != len(header)-1 || seen[""] {
		t.Errorf("the server read %v", seen)
	}
	for _, line := range p.awaitLog(len(header) - 1) {
		if line["client"] != "192.0.2.1:1000" {
			t.Errorf("client in the log: %v", line["client"])
		}
	}
}
