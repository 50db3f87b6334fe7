package dispatch

import (
	"sync/atomic"

	"penstock/lb/limit"
	"penstock/lb/method"
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// Dispatcher holds the topology, its limits and its queues.
type Dispatcher struct {
	// Constant after New.
	wake     func(loop int)
	loops    []*Loop
	virtuals []*virtual
	pools    []*pool
	members  []*member
	nodes    []*node
	homes    []*home
}

// New builds a dispatcher. wake is called, on any loop's thread, to have Next
// and Run called soon on another loop; it must not block.
func New(c Config, wake func(loop int)) *Dispatcher {
	d := &Dispatcher{wake: wake}
	for _, nc := range c.Nodes {
		n := &node{slots: limit.New(nc.Limit, c.Loops)}
		n.state.Store(uint32(nc.State))
		d.nodes = append(d.nodes, n)
	}
	for i, pc := range c.Pools {
		d.pools = append(d.pools, newPool(PoolID(i), pc, c.Loops))
	}
	for i, mc := range c.Members {
		d.addMember(MemberID(i), mc, c.Loops)
	}
	for i := range c.Loops {
		d.loops = append(d.loops, &Loop{d: d, index: i, next: make([]method.RoundRobin, len(c.Pools))})
	}
	for i, vc := range c.Virtuals {
		d.addVirtual(VirtualID(i), vc, c.Loops)
	}
	for _, pl := range d.pools {
		pl.recountUp(0)
	}
	d.makeHomes()
	return d
}

func newPool(id PoolID, c PoolConfig, loops int) *pool {
	pl := &pool{id: id, slots: limit.New(c.Limit, loops), tries: c.Tries}
	pl.setRules(c)
	return pl
}

func (pl *pool) setRules(c PoolConfig) {
	pl.queue.Store(c.Queue)
	pl.depthCap.Store(c.Depth)
	pl.downCap.Store(c.DownDepth)
	pl.queueTime.Store(int64(c.QueueTime))
	pl.whenDown.Store(c.WhenDownQueue)
	pl.whenDownTime.Store(int64(c.WhenDownTime))
}

func (d *Dispatcher) addMember(id MemberID, c MemberConfig, loops int) {
	pl := d.pools[c.Pool]
	m := &member{id: id, index: len(pl.members), pool: pl, node: d.nodes[c.Node], slots: limit.New(c.Limit, loops)}
	m.state.Store(uint32(c.State))
	m.depthCap.Store(c.Depth)
	pl.members = append(pl.members, m)
	d.members = append(d.members, m)
}

func (d *Dispatcher) addVirtual(id VirtualID, c VirtualConfig, loops int) {
	v := &virtual{
		id: id, pool: d.pools[c.Pool], slots: limit.New(c.Limit, loops),
		fresh: make([]ring.Ring[queue.Entry], loops),
	}
	v.pool.virtuals = append(v.pool.virtuals, v)
	d.virtuals = append(d.virtuals, v)
	v.free = d.newGroup(groupKey{virtual: id})
}

func (d *Dispatcher) newGroup(key groupKey) *group {
	g := &group{
		key: key, virtual: d.virtuals[key.virtual], member: d.persisted(Sticky(key.sticky)),
		queue: queue.New(len(d.loops)),
	}
	return g
}

// persisted returns the member that s names, or nil.
func (d *Dispatcher) persisted(s Sticky) *member {
	if s == 0 {
		return nil
	}
	return d.members[s-1]
}

// Loop returns the view of loop i.
func (d *Dispatcher) Loop(i int) *Loop { return d.loops[i] }

// depthOf returns what counts the waiters of a queue, and how many it may
// hold: the pool's queue, or that of the member a waiter is persisted to.
func (pl *pool) depthOf(d *Dispatcher, s Sticky) (depth, most *atomic.Int64) {
	if m := d.persisted(s); m != nil {
		return &m.depth, &m.depthCap
	}
	return &pl.depth, &pl.depthCap
}

// join counts one more waiter unless there are as many as allowed.
func join(depth *atomic.Int64, most int64) (n int64, ok bool) {
	for {
		n = depth.Load()
		if most >= 0 && n >= most {
			return n, false
		}
		if depth.CompareAndSwap(n, n+1) {
			return n + 1, true
		}
	}
}

// uncount takes a waiter that is not waiting any more off the count of its
// queue, which its last state word names.
func (d *Dispatcher) uncount(v *virtual, was state) {
	depth, _ := v.pool.depthOf(d, Sticky(was.member()))
	depth.Add(-1)
	v.pool.home.live.Add(-1)
}

// recount moves a waiter from its member's count to the pool's.
func (d *Dispatcher) recount(pl *pool, was state) {
	depth, _ := pl.depthOf(d, Sticky(was.member()))
	depth.Add(-1)
	pl.depth.Add(1)
}
