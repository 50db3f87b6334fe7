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
	}
	poolSample struct {
		name string
		dispatch.Load
		proxy.Totals
		stats    *dispatch.PoolStats
		now      dispatch.Tick
		depth    int64 // most that may wait
		allDepth int64 // who waits, at the members too
	}
	memberSample struct {
		pool, address string
		dispatch.MemberView
		proxy.Totals
		now dispatch.Tick
	}
	nodeSample struct {
		address string
		dispatch.Load
		proxy.Totals
	}
)

// samples is one reading of a View.
type samples struct {
	view     View
	virtuals []virtualSample
	pools    []poolSample
	members  []memberSample
	nodes    []nodeSample
}

func read(v View) *samples {
	c := v.Config()
	s := &samples{view: v}
	for i := range c.Virtuals {
		s.virtuals = append(s.virtuals, virtualSample{
			c.Virtuals[i].Name, v.Virtual(dispatch.VirtualID(i)), v.VirtualTotals(i),
		})
	}
	for i := range c.Nodes {
		s.nodes = append(s.nodes, nodeSample{address: c.Nodes[i].Address.String(), Load: v.Node(dispatch.NodeID(i))})
	}
	for i := range c.Pools {
		s.readPool(c, i)
	}
	return s
}

// readPool reads a pool and its members, and adds what they have served to
// their nodes.
func (s *samples) readPool(c *config.Config, i int) {
	id := dispatch.PoolID(i)
	p := poolSample{
		name: c.Pools[i].Name, Load: s.view.Pool(id), stats: s.view.PoolStats(id),
		now: s.view.Now(), depth: c.Depth(i),
	}
	p.allDepth = p.Waiting
	for _, m := range c.Pools[i].Members {
		k := len(s.members)
		ms := memberSample{
			p.name, m.Address.String(), s.view.Member(dispatch.MemberID(k)), s.view.MemberTotals(k), p.now,
		}
		p.allDepth += ms.Waiting
		add(&p.Totals, ms.Totals)
		add(&s.nodes[m.Node].Totals, ms.Totals)
		s.members = append(s.members, ms)
	}
	s.pools = append(s.pools, p)
}

func add(t *proxy.Totals, o proxy.Totals) {
	t.Connections += o.Connections
	t.BytesUp += o.BytesUp
	t.BytesDown += o.BytesDown
}

// limitOf is +Inf for no limit.
func limitOf(l dispatch.Load) float64 {
	if l.Limit == 0 {
		return math.Inf(1)
	}
	return float64(l.Limit)
}

func (p *poolSample) depthLimit() float64 {
	if p.depth == config.Unlimited {
		return math.Inf(1)
	}
	return float64(p.depth)
}

// ageHead is how long the oldest has waited.
func (p *poolSample) ageHead() float64 {
	head := dispatch.Tick(p.stats.Head.Load())
	if head == 0 {
		return 0
	}
	return seconds(int64(max(p.now-head, 0)))
}

// backOff is the time until a probe may go to the member.
func (m *memberSample) backOff() float64 {
	return seconds(int64(max(m.BackOffUntil-m.now, 0)))
}

func (m *memberSample) ill() bool { return m.Probing || m.BackOffUntil != 0 }

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
