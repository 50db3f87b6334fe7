package admin

import (
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

// reader reads objects for one request, under one configuration.
type reader struct {
	view  View
	c     *config.Config
	now   dispatch.Tick
	first []int // by pool: the number of its first member
}

func (a api) read() *reader {
	r := &reader{view: a.view, c: a.view.Config(), now: a.view.Now()}
	n := 0
	for i := range r.c.Pools {
		r.first = append(r.first, n)
		n += len(r.c.Pools[i].Members)
	}
	return r
}

func (r *reader) virtual(i int) virtual {
	v := &r.c.Virtuals[i]
	t := r.view.VirtualTotals(i)
	return virtual{
		Name: v.Name, Listen: r.view.Listening(i).String(), Pool: r.c.Pools[v.Pool].Name,
		Settings: v.Settings(), Refused: t.Refused, Bytes: trafficOf(t),
		Connections: connectionsOf(r.view.Virtual(dispatch.VirtualID(i)), t),
	}
}

func (r *reader) pool(i int) pool {
	p := &r.c.Pools[i]
	load, s := r.view.Pool(dispatch.PoolID(i)), r.view.PoolStats(dispatch.PoolID(i))
	o := pool{
		Name: p.Name, Settings: p.Settings(), EffectiveDepth: depthOf(r.c.Depth(i)),
		Expired: s.Expired.Load(), Overflowed: s.Overflowed.Load(), Abandoned: s.Abandoned.Load(),
		Moved: s.Moved.Load(), Requeued: s.Requeued.Load(), RefusedNoMember: s.RefusedNoMember.Load(),
		Members: make([]member, 0, len(p.Members)),
	}
	var total proxy.Totals
	waiting := load.Waiting
	for j := range p.Members {
		m := r.member(i, j)
		waiting += m.Connq.Depth
		addTotals(&total, r.view.MemberTotals(r.first[i]+j))
		o.Members = append(o.Members, m)
	}
	o.Connections, o.Bytes = connectionsOf(load, total), trafficOf(total)
	o.Connq = r.connq(load.Waiting, s)
	o.ConnqAll = r.connq(waiting, s)
	return o
}

func depthOf(n int64) *int64 {
	if n == config.Unlimited {
		return nil
	}
	return &n
}

func (r *reader) connq(waiting int64, s *dispatch.PoolStats) connq {
	q := connq{
		depth: depth{waiting}, Serviced: s.Serviced.Load(), AgeMaxMs: msOf(s.AgeMax.Load()),
		AgeEmaMs: msOf(s.AgeEma.Load()), AgeEdmMs: msOf(s.AgeEdm.Load()),
	}
	if head := s.Head.Load(); head != 0 {
		q.AgeHeadMs = msOf(max(int64(r.now)-head, 0))
	}
	return q
}

func (r *reader) member(i, j int) member {
	m := &r.c.Pools[i].Members[j]
	k := r.first[i] + j
	v, t := r.view.Member(dispatch.MemberID(k)), r.view.MemberTotals(k)
	o := member{
		Pool: r.c.Pools[i].Name, Address: m.Address.String(), Node: r.c.Nodes[m.Node].Address.String(),
		Settings: m.Settings(), Connections: connectionsOf(v.Load, t), Bytes: trafficOf(t),
		Connq: depth{v.Waiting}, DialFailures: v.DialFailures,
		BackOffMs: msOf(int64(max(v.BackOffUntil-r.now, 0))),
	}
	o.State, o.Reason = state(v, m.State, o.BackOffMs)
	return o
}

func (r *reader) node(i int) node {
	n := &r.c.Nodes[i]
	o := node{Address: n.Address.String(), Settings: n.Settings(), Members: []string{}}
	var total proxy.Totals
	for p := range r.c.Pools {
		for j, m := range r.c.Pools[p].Members {
			if m.Node == i {
				addTotals(&total, r.view.MemberTotals(r.first[p]+j))
				o.Members = append(o.Members, r.c.Pools[p].Name+"/"+m.Address.String())
			}
		}
	}
	o.Connections, o.Bytes = connectionsOf(r.view.Node(dispatch.NodeID(i)), total), trafficOf(total)
	return o
}

func addTotals(t *proxy.Totals, o proxy.Totals) {
	t.Connections += o.Connections
	t.BytesUp += o.BytesUp
	t.BytesDown += o.BytesDown
}
