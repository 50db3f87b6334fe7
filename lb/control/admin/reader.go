package admin

import (
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// reader reads objects for one request, under one configuration.
type reader struct {
	view View
	c    *config.Config
	now  dispatch.Tick
}

func (a api) read() *reader { return &reader{a.view, a.view.Config(), a.view.Now()} }

func (r *reader) virtual(i int) virtual {
	v := &r.c.Virtuals[i]
	id := dispatch.VirtualID(v.ID)
	load, t, s := r.view.Virtual(id), r.view.VirtualTotals(v.ID), r.view.VirtualQueue(id)
	o := virtual{
		Name: v.Name, Listen: r.view.Listening(v.ID).String(), Front: v.Front.String(), Mode: v.Transport.String(),
		Pool:     r.c.Pools[v.Pool].Name,
		Settings: v.Settings(), Clients: t.Open, Connections: connectionsOf(load, t),
		Refused: t.Refused, BadHeaders: t.BadHeaders, Bytes: trafficOf(t),
		Connq: r.queue(load.Waiting, s), outcomes: outcomesOf(s), Waits: waitsOf(s),
	}
	o.Persistence.Records, o.Persistence.Bytes = r.view.Records(r.now, id)
	return o
}

func (r *reader) pool(i int) pool {
	p := &r.c.Pools[i]
	id := dispatch.PoolID(p.ID)
	load, own, all := r.view.Pool(id), r.view.PoolQueue(id), r.view.PoolQueueAll(id)
	o := pool{
		Name: p.Name, Settings: p.Settings(), EffectiveDepth: depthOf(r.c.Depth(i)),
		Connq: r.queue(load.Waiting, own), outcomes: outcomesOf(all), Waits: waitsOf(all),
		Members: make([]member, 0, len(p.Members)),
	}
	total := r.view.PoolPast(p.ID)
	waiting := load.Waiting
	for j := range p.Members {
		m := r.member(i, j)
		waiting += m.Connq.Depth
		total = total.Plus(r.view.MemberTotals(p.Members[j].ID))
		o.Members = append(o.Members, m)
	}
	o.ConnqAll = r.queue(waiting, all)
	o.Connections, o.Bytes = connectionsOf(load, total), trafficOf(total)
	if rate := r.view.PoolRate(r.now, id); rate > 0 {
		o.ReleasesPerSecond = &rate
	}
	o.State, o.Reason = poolState(r.view.Paused(id), o.Members)
	return o
}

func depthOf(n int64) *int64 {
	if n == config.Unlimited {
		return nil
	}
	return &n
}

func (r *reader) member(i, j int) member {
	m := &r.c.Pools[i].Members[j]
	id := dispatch.MemberID(m.ID)
	v, t, s := r.view.Member(id), r.view.MemberTotals(m.ID), r.view.MemberQueue(id)
	o := member{
		Pool: r.c.Pools[i].Name, Address: m.Address.String(), Node: r.c.Nodes[m.Node].Address.String(),
		Settings: m.Settings(), Connections: connectionsOf(v.Load, t), Bytes: trafficOf(t),
		Connq: r.queue(v.Waiting, s), outcomes: outcomesOf(s), Waits: waitsOf(s),
		DialFailures: v.DialFailures, BackOffMs: msOf(int64(max(v.BackOffUntil-r.now, 0))),
		Monitor: r.monitor(m.ID),
	}
	if v.Ramp > 0 {
		o.RampLimit = &v.Ramp
	}
	o.State, o.Reason = memberState(v, m.State, o.BackOffMs, o.Monitor.Reason)
	return o
}

func (r *reader) monitor(member int) (m monitor) {
	kind, up, reason, since := r.view.MonitorState(member)
	m.Kind, m.Up, m.Reason = kind, up, reason
	if !since.IsZero() {
		at := moment(since)
		m.Since = &at
	}
	return m
}

func (r *reader) node(i int) node {
	n := &r.c.Nodes[i]
	o := node{Address: n.Address.String(), Settings: n.Settings(), State: n.State.String(), Members: []string{}}
	total := r.view.NodePast(n.ID)
	for p := range r.c.Pools {
		for _, m := range r.c.Pools[p].Members {
			if m.Node == i {
				total = total.Plus(r.view.MemberTotals(m.ID))
				o.Members = append(o.Members, r.c.Pools[p].Name+"/"+m.Address.String())
			}
		}
	}
	o.Connections, o.Bytes = connectionsOf(r.view.Node(dispatch.NodeID(n.ID)), total), trafficOf(total)
	return o
}
