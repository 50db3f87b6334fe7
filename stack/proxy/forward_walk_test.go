package proxy

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"penstock/lb/dispatch"
	"penstock/stack/tap"
	"penstock/stack/tap/ether"
)

// Where forwarded clients go, and as whom.
var (
	behind    = netip.MustParseAddrPort("198.18.5.2:8080")
	snatFirst = netip.MustParseAddr("198.18.5.10")
	ownFirst  = netip.MustParseAddr("198.18.5.1") // the device's, where there is one
)

// overTwo has the virtual server forward from one link in memory to another.
func overTwo(clients, servers **ether.Device, snat ...netip.Addr) option {
	return func(c *Config) {
		overTap(clients)(c)
		*servers = ether.New(c.Dispatch.Loops)
		(*servers).Servers = true
		c.devices.Servers = onLink{*servers}
		c.Tap.Servers = &tap.Link{Addresses: []netip.Prefix{netip.MustParsePrefix("198.18.5.1/24")}}
		c.Tap.Flows = 1000
		c.Virtuals[0].Forward, c.Virtuals[0].SNAT = true, snat
	}
}

// overOne has it forward back to the link that clients come from.
func overOne(link, same **ether.Device, snat ...netip.Addr) option {
	return func(c *Config) {
		overTap(link)(c)
		*same = *link
		c.Tap.Addresses = []netip.Prefix{netip.MustParsePrefix("198.18.5.1/24")}
		c.Tap.Flows = 1000
		c.Virtuals[0].Forward, c.Virtuals[0].SNAT = true, snat
	}
}

// Real stacks on both sides, over links that lose, through the real dispatcher:
// clients come, talk, close in all ways, reset and vanish. The server's own stack
// never has more connections than the limit, each is told of once, and in the end
// nothing is in use.
func TestForwardWalk(t *testing.T) {
	together(t, map[string]forwardWalker{
		"snat":                    {tap.ProofOff, []netip.Addr{snatFirst}, false, 0, overTwo},
		"none, rude":              {tap.ProofOff, nil, true, 0, overTwo},
		"snat, rude, lossy":       {tap.ProofOff, []netip.Addr{snatFirst}, true, 0.02, overTwo},
		"none, proven, lossy":     {tap.ProofAlways, nil, true, 0.02, overTwo},
		"one device, snat, rude":  {tap.ProofOff, []netip.Addr{snatFirst}, true, 0, overOne},
		"one device, none, lossy": {tap.ProofOff, nil, true, 0.02, overOne},
		"one device, its own":     {tap.ProofOff, []netip.Addr{ownFirst}, false, 0, overOne},
	}, forwardWalk)
}

type forwardWalker struct {
	proof tap.Proof
	snat  []netip.Addr
	rude  bool
	lose  float64
	over  func(clients, servers **ether.Device, snat ...netip.Addr) option
}

func forwardWalk(t *testing.T, x forwardWalker) {
	const limit, clients = 5, 20
	each := uint32(8)
	if testing.Short() {
		each = 3
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var link, back *ether.Device
	r := start(t, member(behind, limit), loops(2), x.over(&link, &back, x.snat...),
		virtual(func(v *Virtual) { v.SynProof = x.proof }), idle(4*time.Second), halfClose(3*time.Second),
		queue(func(p *dispatch.PoolConfig) { p.QueueTime = dispatch.Tick(3 * time.Second) }),
		pool(func(p *Pool) { p.ConnectTimeout = 5 * time.Second }))
	var mended atomic.Bool // the links lose nothing any more
	if x.lose > 0 {
		var n atomic.Uint64
		lossy := func([]byte, bool) bool { // the same ones again for a seed, about
			return rand.New(rand.NewPCG(seed, n.Add(1))).Float64() < x.lose && !mended.Load()
		}
		link.Watch, back.Watch = lossy, lossy
	}
	s := echoHost(t, back)
	hosts := come(t, link, walk{seed, clients, each, 2500, x.rude})
	r.untilIdle(hosts)
	mended.Store(true)
	r.last(link)
	r.checkPorts()
	came := r.VirtualTotals(0).Connections
	count := r.codes(came)
	t.Logf("%d clients, %d at the server, %d at once, %v, %+v", came, s.accepted.Load(), s.most.Load(), count, r.TapTotals())
	if n := s.most.Load(); n > limit {
		t.Errorf("%d at once at the server, limit %d", n, limit)
	}
	if count[Served]+count[ServerEnd] == 0 {
		t.Error("nobody was served")
	}
	for _, w := range append(link.Wrong(), back.Wrong()...) {
		t.Error("sent: ", w)
	}
}

// echoes is a server with a stack of its own. Its connections at once are counted by
// that and by what it has accepted and not closed, of which the lesser holds: the
// stack counts on until the last FIN is acknowledged, and the server learns late of
// a reset.
type echoes struct{ accepted, open, most atomic.Int64 }

// echoHost puts one behind the link.
func echoHost(t *testing.T, d *ether.Device) *echoes {
	t.Helper()
	h, err := d.Host(behind.Addr())
	if err != nil {
		t.Fatal(err)
	}
	ln, err := h.Listen(behind.Port())
	if err != nil {
		t.Fatal(err)
	}
	e := &echoes{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			e.accepted.Add(1)
			if n := min(e.open.Add(1), int64(h.Connected())); n > e.most.Load() {
				e.most.Store(n)
			}
			running.Go(func() {
				echo(c.(*gonet.TCPConn))
				e.open.Add(-1)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		running.Wait()
	})
	return e
}

func echo(c *gonet.TCPConn) {
	c.SetDeadline(time.Now().Add(2 * wanderTime))
	b := make([]byte, 1<<10)
	for {
		n, err := c.Read(b)
		if n > 0 {
			if _, err := c.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
