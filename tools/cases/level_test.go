package cases

import (
	"net"
	"sync"
	"testing"
	"time"
)

// The virtual server's own limit is hard, and who exceeds it waits.
func TestVirtualLimit(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "connection-limit=2", members: []string{a.limit(5)}}.start(t)
	in := p.fill(a, 2)
	p.polite(3)
	p.awaitDepth(3)
	for range 3 {
		in[0].end()
		in = append(in[1:], a.next(patience))
		a.nobody(20 * time.Millisecond)
	}
	for _, v := range in {
		v.end()
	}
}

// A node's limit covers its members in all pools: a slot that frees in one
// pool serves who waits in another, the oldest first.
func TestNodeLimitOverPools(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	b := a.beside("B")
	p := setup{
		members: []string{a.addr},
		flags: []string{
			"-node", home(false) + ",connection-limit=2",
			"-virtual", "w,listen=127.0.0.1:0,pool=q", "-pool", "q,queue-depth-cap=none", "-member", b.addr + ",pool=q",
		},
	}.start(t)
	other := &proxy{t: t, addr: fields(p.awaitLine("virtual=w"))["address"]}
	in := p.fill(a, 2)
	var want []string
	waiting := func() int {
		return int(p.metric(`penstock_pool_connq_depth{pool="p"}`) + p.metric(`penstock_pool_connq_depth{pool="q"}`))
	}
	for i := range 6 {
		if i%2 == 0 {
			other.polite(1)
			want = append(want, "B")
		} else {
			p.polite(1)
			want = append(want, "A")
		}
		await(t, patience, "it waits", func() bool { return waiting() == i+1 })
	}
	for i := range 6 {
		in[0].end()
		in = append(in[1:], a.next(patience))
		if got := in[1].server.name; got != want[i] {
			t.Errorf("waiter %d got to %s; want %s", i, got, want[i])
		}
	}
	in[0].end()
	in[1].end()
}

// The same under load: the node never has three, and both pools get on.
func TestNodeLimitUnderLoad(t *testing.T) {
	t.Parallel()
	var node gauge
	node.limit = 2
	a, b := listen(t, "A", lasting(time.Millisecond)), listen(t, "B", lasting(time.Millisecond))
	for _, s := range []*server{a, b} {
		s.watch(func(*visit) { node.enter() }, func(*visit) { node.leave() })
	}
	p := setup{
		members: []string{a.limit(2)},
		flags: []string{
			"-node", home(false) + ",connection-limit=2",
			"-virtual", "w,listen=127.0.0.1:0,pool=q", "-pool", "q,queue-depth-cap=none", "-member", b.addr + ",pool=q",
		},
	}.start(t)
	other := &proxy{t: t, addr: fields(p.awaitLine("virtual=w"))["address"]}
	each := count(50, 1000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { p.loop(each) })
		all.Go(func() { other.loop(each) })
	}
	all.Wait()
	if node.worst > 0 {
		t.Errorf("%d above the node's limit", node.worst)
	}
	if a.total.Load() != b.total.Load() {
		t.Errorf("%d on A, %d on B", a.total.Load(), b.total.Load())
	}
	await(t, patience, "nobody is there", func() bool { return p.inUse() == 0 })
}

// Without a queue, who finds no slot is refused at once, and who finds one is
// served, though another loop had it last.
func TestQueueOff(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{pool: "queue-on-connection-limit=off", members: []string{a.limit(1)}}.start(t)
	begun := time.Now()
	for range 50 {
		v := p.fill(a, 1)[0]
		p.turnedAway()
		v.end()
		await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
	}
	crossed := p.crossed(100, begun)
	if got := codes(p.awaitLog(100 + crossed)); got["QF"] != 50+crossed {
		t.Errorf("codes %v; want QF 50 times", got)
	}
}

// A burst on a full queue: each one is reset, none sees a clean end.
func TestBurstOnFullQueue(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{pool: "queue-depth-limit=5", members: []string{a.limit(1)}}.start(t)
	begun := time.Now()
	v := p.fill(a, 1)[0]
	waiting := p.connectMany(5)
	p.awaitDepth(5)
	const n = 300
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			c, err := p.dial("")
			if err != nil {
				return // reset already
			}
			c.refused(patience)
			c.Close()
		})
	}
	all.Wait()
	await(t, atOnce, itoa(n)+" overflowed", func() bool { return p.pool().Overflowed >= n })
	if crossed, k := p.crossed(1+5+n, begun), p.pool().Overflowed; k > n+crossed {
		t.Errorf("%d overflowed; want %d", k, n)
	}
	if k := p.depth(); k != 5 {
		t.Errorf("depth %d; want 5", k)
	}
	for _, c := range waiting {
		c.reset()
	}
	v.end()
}

// IPv4 and IPv6, on one listener for both.
func TestBothFamilies(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{virtual: "listen=:0", members: []string{a.limit(1)}}.start(t)
	_, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		c := (&proxy{t: t, addr: net.JoinHostPort(host, port)}).connect()
		c.served(patience)
		c.Close()
	}
	from := map[string]bool{}
	for _, line := range p.awaitLog(2) {
		host, _, _ := net.SplitHostPort(line["client"])
		from[host] = true
	}
	if !from["127.0.0.1"] || !from["::1"] {
		t.Errorf("clients in the log: %v", from)
	}
}
