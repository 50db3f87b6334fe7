package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/tools/impair"
)

// Over a link that loses, repeats, reorders and delays, each byte of each stream
// gets through, and the log knows how many they were.
func TestForwardBadLink(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			streams, size := count(100, 200), count(64<<10, 1<<20)
			if testing.Short() {
				streams = 30
			}
			l, wires := badLink(t, impair.Faults{
				Loss: 0.01, Repeat: 0.01, Reorder: 0.02, Late: 3 * time.Millisecond, Delay: 10 * time.Millisecond, Seed: 2,
			})
			a := newFar(t, l).listen("A", at != families[0], echo)
			p := setup{
				virtual: "snat=none,listen=" + at + ":0", pool: "queue-time-limit=0", members: []string{a.limit(streams * 3 / 4)}, link: l,
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
			t.Logf("frames there %+v, back %+v", there, back)
			if there.Lost == 0 || back.Lost == 0 || there.Repeated == 0 || back.Reordered == 0 {
				t.Error("the link was not as bad as it should be")
			}
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
			if n := a.most.Load(); n > int64(streams*3/4) {
				t.Errorf("most %d; want %d", n, streams*3/4)
			}
			sizes := map[string]int{}
			for _, line := range p.awaitLog(streams + int(again.Load())) {
				sizes[line["up"]+" "+line["down"]]++
			}
			wrong := 0
			for i := range streams {
				if n := itoa(size + i); sizes[n+" "+n] != 1 {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("the bytes of %d connections are wrong in the log: %v", wrong, sizes)
			}
		})
	}
}

// seen is a TCP segment as a capture has it, but for addresses and ports.
type seen struct {
	seq, ack, flags, window, length, options string
	down                                     bool // from the server
}

// ofTCP are tshark's names of what is in seen, the first two of them tell where
// it comes from.
var ofTCP = []string{
	"tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.window_size_value", "tcp.len", "tcp.options",
}

// segments reads the TCP segments of a capture; port is the server's, or the
// virtual server's.
func (c *capture) segments(port string) (all []seen) {
	c.t.Helper()
	args := []string{"-Y", "tcp.port==" + port, "-T", "fields", "-E", "separator=;"}
	for _, name := range ofTCP {
		args = append(args, "-e", name)
	}
	for line := range strings.Lines(c.shark(args...)) {
		f := strings.Split(strings.TrimSpace(line), ";")
		if len(f) != len(ofTCP) {
			c.t.Fatalf("tshark says %q", line)
		}
		all = append(all, seen{f[2], f[3], f[4], f[5], f[6], f[7], f[0] == port})
	}
	return all
}

// without takes out of a first SYN's options what may be another on both sides:
// the MSS, and the clock, which is brought forward.
func (s seen) without() seen {
	if s.flags != "0x0002" && s.flags != "0x0012" {
		return s
	}
	b := []byte(s.options)
	for i := 0; i+4 <= len(b); {
		var kind, size int
		fmt.Sscanf(string(b[i:i+4]), "%2x%2x", &kind, &size)
		switch {
		case kind < 2:
			i += 2
			continue
		case kind == 2:
			copy(b[i+4:], "____")
		case kind == 8 && s.flags == "0x0002":
			copy(b[i+4:], "________")
		}
		i += 2 * max(size, 2)
	}
	s.options = string(b)
	return s
}

// What comes to servers is what clients sent, and the other way round: numbers,
// windows, options and lengths are untouched, and no checksum is wrong.
func TestForwardOnBothSides(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		for _, snat := range []string{"", ",snat=none"} {
			t.Run(at+snat, func(t *testing.T) { onBothSides(t, at, snat) })
		}
	}
}

func onBothSides(t *testing.T, at, snat string) {
	l, _ := badLink(t, impair.Faults{})
	a := newFar(t, l).listen("A", at != families[0], echo)
	p := setup{virtual: "syn-proof=off,listen=" + at + ":0" + snat, members: []string{a.limit(2)}, link: l}.start(t)
	clients, servers := listenOn(t, "pn7-w"+itoa(l.n)), listenOn(t, "pn7-x"+itoa(l.n))
	var all sync.WaitGroup
	for i := range 8 { // most of them have to wait
		c := p.connect()
		all.Go(func() { c.echoed(byte(i), 100_000*(i+1)) })
	}
	all.Wait()
	await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
	clients.end()
	servers.end()
	// Linux writes ffff for a sum of zero, which is no less right.
	const bad = "(tcp.checksum.status==0 && tcp.checksum!=0xffff) || ip.checksum.status==0 || icmp.checksum.status==0 || icmpv6.checksum.status==0 || _ws.malformed"
	for name, c := range map[string]*capture{"clients": clients, "servers": servers} {
		n := c.counts(bad, "tcp.checksum.status==1")
		t.Logf("%s: %d frames are wrong, %d are right", name, n[0], n[1])
		if n[0] > 0 || n[1] < 1000 {
			t.Errorf("%s: wrong are\n%s", name, tail(c.shark("-Y", bad), 2000))
		}
	}
	compare(t, clients.segments(portOfAddr(p.addr)), servers.segments(portOfAddr(a.addr)))
}

func portOfAddr(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

// compare says that the same segments were seen on both sides. A SYN that
// waited was repeated on the clients' side only.
func compare(t *testing.T, clients, servers []seen) {
	t.Helper()
	tally := func(all []seen) map[seen]int {
		m := map[seen]int{}
		for _, s := range all {
			m[s.without()]++
		}
		return m
	}
	there, here := tally(servers), tally(clients)
	syns := 0
	var wrong []string
	for s, n := range here {
		switch k := there[s]; {
		case s.flags == "0x0002" && k > 0 && k <= n:
			syns++
		case k != n:
			wrong = append(wrong, fmt.Sprintf("%d on the clients' side, %d on the servers': %+v", n, k, s))
		}
	}
	for s := range maps.Keys(there) {
		if here[s] == 0 {
			wrong = append(wrong, fmt.Sprintf("on the servers' side only: %+v", s))
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		t.Errorf("%d of %d differ:\n%s", len(wrong), len(here), strings.Join(wrong[:min(len(wrong), 10)], "\n"))
	}
	if syns != 8 {
		t.Errorf("%d SYNs; want 8", syns)
	}
}
