package cases

import (
	"slices"
	"testing"
	"time"

	"penstock/bench/wire"
)

// A client's own SYN reaches a server in the instant in which there is a slot
// for it, and not before.
func TestForwardSYNWaits(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	l := newLink(t)
	l.reach()
	e := l.hear(a.addr)
	p := setup{virtual: "syn-proof=off", members: []string{a.limit(1)}, link: l}.start(t)
	v := p.fill(a, 1)[0]
	if _, _, ok := e.next(wire.SYN, patience); !ok {
		t.Fatal("no SYN is heard")
	}
	c := p.connect()
	p.awaitDepth(1)
	e.silence(wire.SYN, time.Until(c.at.Add(2*time.Second)))
	if !c.connecting() {
		t.Error("connected without a slot")
	}
	freed := time.Now()
	v.reset() // frees the slot with no help of its client
	h, at, ok := e.next(wire.SYN, patience)
	if !ok {
		t.Fatal("the SYN does not come")
	}
	between(t, "the SYN", at.Sub(freed), 0, 50*time.Millisecond)
	c.connected(patience)
	w := a.next(patience)
	if from := addrPort(w.RemoteAddr()); from != h.From.AddrPort() {
		t.Errorf("the server has a client at %v; the SYN was from %v", from, h.From.AddrPort())
	}
	w.end()
	c.Close()
}

// badOpens are servers to which nobody can connect.
var badOpens = []struct {
	name        string
	addr        func(t *testing.T, l *link) string
	least, most time.Duration // until that is known
}{
	{"refuses", func(t *testing.T, l *link) string { return refusing(t) }, 0, soon},
	{"is silent", blockedBy("drop"), openTimeout, openTimeout + soon},
	{"unreachable", blockedBy("reject with icmp type host-unreachable"), 0, soon},
	{"prohibited", blockedBy("reject with icmp type admin-prohibited"), 0, soon},
	{"no such protocol", blockedBy("reject with icmp type prot-unreachable"), 0, soon},
	// Three questions, and a quarter of a second for the answer to the last.
	{"is not there", func(t *testing.T, l *link) string { return l.atA(77).String() + ":80" }, 750 * time.Millisecond, 750*time.Millisecond + soon},
}

const (
	openTimeout = 2 * time.Second        // how long a server has to answer
	soon        = 200 * time.Millisecond // with the first question for each neighbour
)

// blockedBy is a server that the kernel keeps clients from by a verdict of nft's.
func blockedBy(verdict string) func(t *testing.T, l *link) string {
	return func(t *testing.T, l *link) string {
		s := listen(t, "blocked", nil)
		block(t, s.addr, verdict)
		return s.addr
	}
}

// A server that can't be connected to is a failed dial, however that shows: the
// client does not notice and gets to another server.
func TestForwardOpensElsewhere(t *testing.T) {
	forwardOnly(t)
	for _, bad := range badOpens {
		t.Run(bad.name, func(t *testing.T) {
			t.Parallel()
			b := listen(t, "B", hold)
			l := newLink(t)
			l.reach()
			addr := bad.addr(t, l)
			p := setup{
				loops: 1, // the bad one is asked first
				pool:  "reselect-tries=1,connect-timeout=" + openTimeout.String(), members: []string{addr, b.addr}, link: l,
			}.start(t)
			c := p.connect()
			if name := c.served(patience); name != "B" {
				t.Errorf("served by %q", name)
			}
			between(t, "B", time.Since(c.at), bad.least, bad.most)
			await(t, atOnce, "one failed dial", func() bool { return p.member(&server{t: t, addr: addr}).DialFailures == 1 })
			c.Close()
		})
	}
}

// With no other server, the client is told by a reset.
func TestForwardOpensNowhere(t *testing.T) {
	forwardOnly(t)
	for _, bad := range badOpens {
		t.Run(bad.name, func(t *testing.T) {
			t.Parallel()
			l := newLink(t)
			l.reach()
			addr := bad.addr(t, l)
			p := setup{pool: "connect-timeout=" + openTimeout.String(), members: []string{addr + ",connection-limit=1"}, link: l}.start(t)
			c := p.connect()
			c.refused(patience)
			between(t, "refused", time.Since(c.at), bad.least, bad.most)
			// More than once, if its kernel asked again just before it was told.
			for _, line := range p.awaitLog(1) {
				if line["code"] != "SF" {
					t.Errorf("ended with %v; want SF", line)
				}
			}
		})
	}
}

// Who was refused goes back to its own place, before who came later.
func TestForwardBackToItsPlace(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{loops: 1, pool: "reselect-tries=1", members: []string{a.limit(1), refusing(t)}}.start(t)
	v := p.fill(a, 1)[0]
	first := p.polite(1)[0]
	first.say("first\n")
	p.awaitDepth(1)
	await(t, atOnce, "requeued once", func() bool { return p.pool().Requeued == 1 })
	p.polite(1)[0].say("second\n")
	p.awaitDepth(2)
	if *synProof != "always" && !first.connecting() {
		t.Error("the client has noticed")
	}
	for _, want := range []string{"first", "second"} {
		v.end()
		v = a.next(atOnce)
		if text, _ := v.line(); text != want {
			t.Errorf("served %q; want %s", text, want)
		}
	}
	v.end()
}

// A SYN that is not answered holds its slot: no server gets more of them at once
// than it may have connections.
func TestForwardHoldsSlots(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	const limit, timeout = 2, time.Second
	a := listen(t, "A", nil)
	block(t, a.addr, "drop")
	l := newLink(t)
	l.reach()
	e := l.hear(a.addr)
	p := setup{pool: "connect-timeout=" + timeout.String() + ",when-down=queue", members: []string{a.limit(limit)}, link: l}.start(t)
	p.tidy = false // most are still waiting
	p.connectMany(20)
	var first []time.Time // of each
	seen := map[wire.Flow]bool{}
	for end := time.Now().Add(4 * timeout); ; {
		h, at, ok := e.next(wire.SYN, time.Until(end))
		if !ok {
			break
		}
		if !seen[h.From] {
			seen[h.From] = true
			first = append(first, at)
		}
	}
	t.Logf("%d SYNs", len(first))
	if len(first) < limit {
		t.Fatal("no SYNs")
	}
	for i := limit; i < len(first); i++ {
		// A SYN may be on its way for longer than its timer, when all stalls.
		if d := first[i].Sub(first[i-limit]); d < timeout/2-stalledIn(first[i-limit].Add(-timeout), first[i]) {
			t.Errorf("SYN %d is %v after the one before the last", i, d)
		}
	}
}

// Who answers when it has been given up is told so, and has no connection.
func TestForwardLateSYNACK(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a, b := listen(t, "A", nil), listen(t, "B", hold)
	p := setup{
		loops: 1, pool: "reselect-tries=1,connect-timeout=800ms", members: []string{a.limit(1), b.limit(1)},
	}.start(t)
	unblock := blockAnswers(t, a.addr)
	c := p.connect()
	if name := c.served(patience); name != "B" {
		t.Errorf("served by %q", name)
	}
	unblock() // A says it again a second after the first time, and later
	a.nobody(1500 * time.Millisecond)
	await(t, patience, "A has no connection", func() bool {
		return !slices.ContainsFunc(sockets(t, a.addr), func(s socket) bool { return s.state != listening })
	})
	c.Close()
}
