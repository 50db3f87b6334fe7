package metrics

import (
	"math"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

// What is read of one object in one scrape.
type (
	virtualSample struct {
		name string
		dispatch.Load
		proxy.Totals
		queue       queue
		records     int
		recordBytes int64
	}
	poolSample struct {
		name string
		dispatch.Load
		proxy.Totals
		own    queue
		all    queue // with those of its members
		depth  int64 // most that may wait
		paused bool
		rate   float64

		members int
		up      int // of its members: those that take connections
	}
	memberSample struct {
		pool, address string
		dispatch.MemberView
		proxy.Totals
		queue     queue
		monitored bool
		now       dispatch.Tick
	}
	nodeSample struct {
		address string
		state   dispatch.State
		dispatch.Load
		proxy.Totals
	}
)

// queue is who waits in one place, and who has waited.
type queue struct {
	depth int64
	stats *dispatch.QueueStats
	now   dispatch.Tick
}

// samples is one reading of a View.
type samples struct {
	view     View
	now      dispatch.Tick
	virtuals []virtualSample
	pools    []poolSample
	members  []memberSample
	nodes    []nodeSample
	tap      *tapSample // nil: there is no device
	links    []linkSample
}

// mostReads bounds how often a reading is begun anew.
const mostReads = 4

// read reads everything under one configuration. If another one came into force
// meanwhile, a member may have been counted in its old place and its new one,
// or in neither: then it reads again.
func read(v View) (s *samples) {
	for range mostReads {
		c := v.Config()
		if s = readUnder(c, v); v.Config() == c {
			break
		}
	}
	return s
}

func readUnder(c *config.Config, v View) *samples {
	s := &samples{view: v, now: v.Now()}
	for i := range c.Virtuals {
		s.readVirtual(&c.Virtuals[i])
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		s.nodes = append(s.nodes, nodeSample{
			address: n.Address.String(), state: dispatch.State(n.State), Load: v.Node(dispatch.NodeID(n.ID)),
			Totals: v.NodePast(n.ID),
		})
	}
	for i := range c.Pools {
		s.readPool(c, i)
	}
	if c.Tap != nil {
		s.readTap(c)
	}
	return s
}

func (s *samples) readTap(c *config.Config) {
	s.tap = &tapSample{device: c.Tap.Device, most: c.Handshakes(), flows: c.Flows(), Totals: s.view.TapTotals()}
	servers := ""
	if c.ServerTap != nil {
		servers = c.ServerTap.Device
	}
	s.links = links(c.Tap.Device, &s.tap.Totals, servers)
}

func (s *samples) readVirtual(v *config.Virtual) {
	id := dispatch.VirtualID(v.ID)
	o := virtualSample{name: v.Name, Load: s.view.Virtual(id), Totals: s.view.VirtualTotals(v.ID)}
	o.queue = queue{o.Waiting, s.view.VirtualQueue(id), s.now}
	o.records, o.recordBytes = s.view.Records(s.now, id)
	s.virtuals = append(s.virtuals, o)
}

// readPool reads a pool and its members, and adds what they have served to
// their nodes.
func (s *samples) readPool(c *config.Config, i int) {
	id := dispatch.PoolID(c.Pools[i].ID)
	p := poolSample{
		name: c.Pools[i].Name, Load: s.view.Pool(id), depth: c.Depth(i),
		Totals: s.view.PoolPast(c.Pools[i].ID), paused: s.view.Paused(id), rate: s.view.PoolRate(s.now, id), members: len(c.Pools[i].Members),
	}
	p.own = queue{p.Waiting, s.view.PoolQueue(id), s.now}
	p.all = queue{p.Waiting, s.view.PoolQueueAll(id), s.now}
	for j := range c.Pools[i].Members {
		m := s.readMember(p.name, &c.Pools[i].Members[j])
		p.all.depth += m.Waiting
		if m.up() {
			p.up++
		}
		p.Totals = p.Plus(m.Totals)
		node := &s.nodes[c.Pools[i].Members[j].Node]
		node.Totals = node.Plus(m.Totals)
		s.members = append(s.members, m)
	}
	s.pools = append(s.pools, p)
}

func (s *samples) readMember(pool string, m *config.Member) memberSample {
	id := dispatch.MemberID(m.ID)
	o := memberSample{
		pool: pool, address: m.Address.String(), MemberView: s.view.Member(id),
		Totals: s.view.MemberTotals(m.ID), now: s.now,
	}
	o.queue = queue{o.Waiting, s.view.MemberQueue(id), s.now}
	kind, _, _, _ := s.view.MonitorState(m.ID)
	o.monitored = kind != "none" && kind != ""
	return o
}

// limitOf is +Inf for no limit.
func limitOf(l dispatch.Load) float64 {
	if l.Limit == 0 {
		return math.Inf(1)
	}
	return float64(l.Limit)
}

// inForce is the limit as slow ramp has it now.
func (m *memberSample) inForce() float64 {
	if m.Ramp > 0 {
		return float64(m.Ramp)
	}
	return limitOf(m.Load)
}

func (p *poolSample) depthLimit() float64 {
	if p.depth == config.Unlimited {
		return math.Inf(1)
	}
	return float64(p.depth)
}

// releaseRate is NaN if it is not known: 0 would be a queue that stands.
func (p *poolSample) releaseRate() float64 {
	if p.rate <= 0 {
		return math.NaN()
	}
	return p.rate
}

// ageHead is how long the oldest has waited.
func (q queue) ageHead() float64 {
	head := dispatch.Tick(q.stats.Head.Load())
	if head == 0 {
		return 0
	}
	return seconds(int64(max(q.now-head, 0)))
}

// backOff is the time until a probe may go to the member.
func (m *memberSample) backOff() float64 {
	return seconds(int64(max(m.BackOffUntil-m.now, 0)))
}

func (m *memberSample) ill() bool { return m.Probing || m.BackOffUntil != 0 }

// up says whether the member takes new clients. In back-off it does, once its
// probe has succeeded.
func (m *memberSample) up() bool { return m.State == dispatch.Enabled && !m.Down }

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
