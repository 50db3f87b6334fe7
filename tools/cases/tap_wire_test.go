package cases

import (
	"bytes"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/tools/impair"
)

// Over a link that loses, repeats, reorders and delays, each byte of each
// stream gets through, both ways at once.
func TestTapBadLink(t *testing.T) {
	tapOnly(t)
	for _, proof := range []string{"off", "always"} {
		t.Run("syn-proof="+proof, func(t *testing.T) { overBadLink(t, proof) })
	}
}

func overBadLink(t *testing.T, proof string) {
	streams, size := count(200, 200), count(128<<10, 1<<20)
	if testing.Short() || proof == "always" && !*long {
		streams = 50
	}
	l, wires := badLink(t, impair.Faults{
		Loss: 0.01, Repeat: 0.01, Reorder: 0.02, Late: 3 * time.Millisecond, Delay: 10 * time.Millisecond, Seed: 1,
	})
	a := listen(t, "A", echo)
	p := setup{
		virtual: "syn-proof=" + proof, pool: "queue-time-limit=0", members: []string{a.limit(streams * 3 / 4)}, link: l,
	}.start(t)
	start := time.Now()
	var again atomic.Int64
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() { p.persistent(byte(i), size+i, &again) })
	}
	all.Wait()
	p.forgiven(again.Load(), start)
	there, back := wires.Counts()
	t.Logf("%d streams of %d kB each way in %v; frames there %+v, back %+v", streams, size>>10, time.Since(start), there, back)
	for _, c := range []impair.Counts{there, back} {
		if c.Lost == 0 || c.Repeated == 0 || c.Reordered == 0 {
			t.Errorf("the link was not as bad as it should be: %+v", c)
		}
	}
	if n := p.pool().Expired; n != 0 {
		t.Errorf("%d expired", n)
	}
}

// Large frames, the way the kernel hands them over and takes them, carry each
// byte.
func TestTapBulkIntegrity(t *testing.T) {
	tapOnly(t)
	for _, family := range []string{"127.0.0.1", "[::1]"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			a := listenFor(t, family, "A", echo)
			p := setup{virtual: "listen=" + family + ":0", members: []string{a.limit(4)}}.start(t)
			var all sync.WaitGroup
			for i := range 4 {
				c := p.connect()
				all.Go(func() { c.echoed(byte(i), count(16<<20, 256<<20)) })
			}
			all.Wait()
			total := func(what, direction string) float64 {
				return p.metric(`penstock_tap_` + what + `_total{device="` + p.link.dev + `",direction="` + direction + `"}`)
			}
			for _, direction := range []string{"in", "out"} {
				each := total("bytes", direction) / total("frames", direction)
				t.Logf("%s: %.0f bytes a frame", direction, each)
				if direction == "in" && each < 1500 {
					t.Errorf("%s: %.0f bytes a frame: none is large", direction, each)
				}
			}
		})
	}
}

// tshark finds nothing wrong with the checksums of each kind of packet that is
// sent.
func TestTapChecksums(t *testing.T) {
	tapOnly(t)
	l, _ := badLink(t, impair.Faults{})
	frames := listenOn(t, "pn7-w"+itoa(l.n))
	allKinds(t, l)
	frames.end()
	from4, from6 := "ip.src=="+l.virtual(false).String(), "ipv6.src=="+l.virtual(true).String()
	kinds := []string{
		from4 + " && tcp.flags.syn==1 && tcp.flags.ack==1", from6 + " && tcp.flags.syn==1 && tcp.flags.ack==1",
		from4 + " && tcp.flags.syn==1 && tcp.flags.ack==1 && tcp.window_size_value==0",                 // a cookie
		from4 + " && tcp.flags.reset==1 && tcp.seq==0", from6 + " && tcp.flags.reset==1 && tcp.seq==0", // to a SYN
		from4 + " && tcp.flags.reset==1 && tcp.seq!=0",         // of a connection
		from4 + " && tcp.len>1300", from6 + " && tcp.len>1300", // cut from large ones
		from4 + " && tcp.len>0 && tcp.len<100", from6 + " && tcp.len>0 && tcp.len<100",
		from4 + " && tcp.flags.fin==1", from6 + " && tcp.flags.fin==1",
		from4 + " && icmp.type==0", from6 + " && icmpv6.type==129", // echo replies
		"arp.src.proto_ipv4==" + l.virtual(false).String() + " && arp.opcode==2",
		"icmpv6.type==136 && icmpv6.nd.na.target_address==" + l.virtual(true).String(),
	}
	for i, n := range frames.counts(kinds...) {
		if n == 0 {
			t.Errorf("no frame with %s", kinds[i])
		}
	}
	const bad = "tcp.checksum.status==0 || ip.checksum.status==0 || icmp.checksum.status==0 || icmpv6.checksum.status==0 || _ws.malformed"
	n := frames.counts(bad, "tcp.checksum.status==1 && ("+from4+" || "+from6+")")
	t.Logf("%d frames are wrong; %d TCP segments of penstock are right", n[0], n[1])
	if n[0] > 0 {
		t.Errorf("wrong are:\n%s", tail(frames.shark("-Y", bad), 2000))
	}
	if n[1] < 1000 {
		t.Error("tshark has not looked at them")
	}
}

// allKinds has a penstock send each kind of packet.
func allKinds(t *testing.T, l *link) {
	t.Helper()
	a := listen(t, "A", echo)
	p := setup{
		virtual: "syn-proof=off", pool: "queue-on-connection-limit=off", members: []string{a.limit(1)}, link: l,
		flags: []string{
			"-virtual", "six,listen=[::1]:0,pool=p,syn-proof=off",
			"-virtual", "wait,listen=127.0.0.1:0,pool=wait,syn-proof=always", "-pool", "wait,queue-depth-cap=none,monitor=none",
			"-member", a.addr + ",pool=wait,connection-limit=1",
		},
	}.start(t)
	p.awaitLine("virtual=wait")
	named := func(name string) *proxy { return &proxy{t: t, addr: fields(p.awaitLine("virtual=" + name))["address"]} }
	free := func() {
		await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
	}
	for _, p := range []*proxy{named("v"), named("six")} {
		c := p.connect()
		c.connected(patience)
		p.turnedAway()
		c.echoed(1, 4<<20)
		free()
		d := p.connect()
		d.say("hello\n")
		d.served(patience)
		d.reset()
		free()
		pinged(t, netip.MustParseAddrPort(p.addr).Addr())
	}
	busy, parked := named("wait").connect(), (*client)(nil)
	busy.say("hello\n")
	busy.served(patience)
	parked = named("wait").connect()
	parked.connected(patience)
	busy.Close()
	parked.echoed(2, 1<<20)
	cut := named("wait").connect()
	cut.say("hello\n")
	cut.served(patience)
	p.remove(a, "?now=true")
	if code, text := p.api.do("DELETE", "/v1/members/wait/"+a.addr+"?now=true", ""); code != 200 {
		t.Fatalf("DELETE: %d %s", code, text)
	}
	cut.refused(patience)
}

// pinged sends ICMP echo requests until one is answered: the kernel gives up what it
// has to find the neighbour for, when that is slow.
func pinged(t *testing.T, a netip.Addr) {
	t.Helper()
	network, request, reply := "ip4:icmp", byte(8), byte(0)
	if a.Is6() {
		network, request, reply = "ip6:ipv6-icmp", 128, 129
	}
	c, err := net.Dial(network, a.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	data := bytes.Repeat([]byte("ping"), 100)
	b := append([]byte{request, 0, 0, 0, 0, 7, 0, 1}, data...)
	if a.Is4() { // of the other family the kernel does it
		sum := uint32(0)
		for i := 0; i < len(b); i += 2 {
			sum += uint32(b[i])<<8 | uint32(b[i+1])
		}
		sum = sum>>16 + sum&0xffff
		sum += sum >> 16
		b[2], b[3] = ^byte(sum>>8), ^byte(sum)
	}
	await(t, patience, "a reply from "+a.String(), func() bool {
		if _, err := c.Write(b); err != nil {
			return false
		}
		c.SetReadDeadline(time.Now().Add(time.Second))
		for got := make([]byte, 2000); ; {
			n, err := c.Read(got)
			if err != nil {
				return false
			}
			if n >= len(b) && bytes.HasSuffix(got[:n], data) && got[n-len(b)] == reply {
				return true
			}
		}
	})
}
