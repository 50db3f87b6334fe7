package proxy

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"penstock/lb/dispatch"
	"penstock/stack/tap"
	"penstock/stack/tap/ether"
)

// Clients on a TAP device that come, wait, give up, talk, close and vanish at
// random, beside SYNs of nobody. The server's own count never is above the
// limit, each session ends once, and in the end nothing is in use. Where clients
// reset, the server learns late that it has one less: there it is not counted.
func TestTapWalk(t *testing.T) {
	type walker struct {
		proof tap.Proof
		rude  bool
	}
	together(t, map[string]walker{
		"auto": {tap.ProofAuto, false}, "always": {tap.ProofAlways, false}, "always, rude": {tap.ProofAlways, true}, "off, rude": {tap.ProofOff, true},
	}, func(t *testing.T, x walker) { tapWalk(t, x.proof, x.rude) })
}

// together runs subtests some at a time, however few processors there are: they
// mostly wait. Not so under the race detector, which is what short runs are for.
func together[T any](t *testing.T, cases map[string]T, run func(*testing.T, T)) {
	most := 4
	if testing.Short() {
		most = 2
	}
	room := make(chan struct{}, most)
	var running sync.WaitGroup
	for name, x := range cases {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.Run(name, func(t *testing.T) { run(t, x) })
		})
	}
	running.Wait()
}

func tapWalk(t *testing.T, proof tap.Proof, rude bool) {
	const limit, clients = 5, 24
	each := uint32(8)
	if testing.Short() {
		each = 3
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(patience))
		echoed(c)
	})
	var link *ether.Device
	r := start(t, member(s.addr(), limit), loops(2), overTap(&link),
		virtual(func(v *Virtual) { v.SynProof = proof; v.SynShare = 50 }), idle(3*time.Second), halfClose(3*time.Second),
		queue(func(p *dispatch.PoolConfig) { p.QueueTime = dispatch.Tick(2 * time.Second) }))
	hosts := come(t, link, walk{seed, clients, each, 1500, rude})
	r.untilIdle(hosts)
	r.last(link)
	r.checkPorts()
	came := r.VirtualTotals(0).Connections
	count := r.codes(came)
	t.Logf("%d clients, %d at the server, %v, %+v", came, s.accepted.Load(), count, r.TapTotals())
	if n := s.most.Load(); n > limit && count[ClientReset]+count[Idle]+count[HalfClosed] == 0 {
		t.Errorf("%d at once at the server, limit %d", n, limit)
	}
	if count[Served]+count[ServerEnd] == 0 {
		t.Error("nobody was served")
	}
	for _, w := range link.Wrong() {
		t.Error("sent: ", w)
	}
}

// last has somebody come to whom nobody is in the way, and who is patient, as the proxy
// is with this one: whatever became of the others on a slow machine, it is served.
func (r *rig) last(link *ether.Device) {
	r.t.Helper()
	r.isolated(func(int64) {
		v := r.virtuals[0]
		v.IdleTimeout, v.HalfClose = never, never
		r.SetVirtual(0, v)
	})
	h := host(r.t, link, 6)
	c, err := dialHost(h, patience)
	if err != nil {
		r.t.Error("the last one: ", err)
		return
	}
	c.SetDeadline(time.Now().Add(patience))
	b, got := []byte("echo"), make([]byte, 4)
	c.Write(b)
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, b) {
		r.t.Errorf("the last one got %q, %v", got, err)
	}
	c.CloseWrite()
	io.Copy(io.Discard, c)
	c.Close()
	r.untilIdle(nil) // with its end told
	r.untilIdle([]*ether.Host{h})
}

// codes counts how the sessions of so many clients ended, each once.
func (r *rig) codes(came uint64) map[Code]int {
	r.t.Helper()
	count := map[Code]int{}
	for range came {
		count[r.end().Code]++
	}
	if n := len(r.ended); n != 0 {
		r.t.Errorf("%d more sessions ended than there were clients", n)
	}
	return count
}

// walk says how clients come.
type walk struct {
	seed          uint64
	clients, each uint32 // how many at once, and how often each comes
	patience      int    // milliseconds at most
	rude          bool
}

// come has clients come from hosts on a link, beside SYNs of nobody. One host
// vanishes half way through.
func come(t *testing.T, link *ether.Device, x walk) (hosts []*ether.Host) {
	t.Helper()
	for n := range byte(4) {
		hosts = append(hosts, host(t, link, n+1))
	}
	lost := host(t, link, 5)
	var running sync.WaitGroup
	for i := range x.clients {
		running.Go(func() {
			rnd := rand.New(rand.NewPCG(x.seed, uint64(i)))
			for k := range x.each {
				h := hosts[rnd.IntN(len(hosts))]
				switch rnd.IntN(20) {
				case 0:
					link.Send(forged(i*x.each + k))
					continue
				case 1:
					h = lost
				}
				c, err := dialHost(h, time.Duration(rnd.IntN(x.patience))*time.Millisecond)
				if err == nil {
					wander(c, rnd, x.rude)
				}
				if i == 0 && k == x.each/2 {
					lost.Vanish()
				}
			}
		})
	}
	running.Wait()
	return hosts
}

// wanderTime is how long a connection of a walk takes at most: longer than the
// timeouts of the proxy, which end it if its peer is gone.
const wanderTime = 6 * time.Second

// wander does some things with a connection, and closes it in some way.
func wander(c *gonet.TCPConn, rnd *rand.Rand, rude bool) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(wanderTime))
	b, got := make([]byte, 20_000), make([]byte, 20_000)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	for range rnd.IntN(4) {
		n := 1 + rnd.IntN(len(b))
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
		if rude && rnd.IntN(3) == 0 {
			return // with the echo unread: a reset
		}
		if _, err := io.ReadFull(c, got[:n]); err != nil {
			return
		}
		if !bytes.Equal(got[:n], b[:n]) {
			panic("the echo is another one")
		}
	}
	switch rnd.IntN(3) {
	case 0:
		c.CloseWrite()
		io.Copy(io.Discard, c)
	case 1:
		time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
	}
}
