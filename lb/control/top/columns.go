package top

import (
	"math"
	"strconv"

	"penstock/lb/control/ctl"
)

// The ranks of columns say what is left out first on a narrow screen; 0 stays.

func (v *view) virtualColumns() []column[ctl.Virtual] {
	var old map[string]ctl.Virtual
	if v.before != nil {
		old = byName(v.before.virtuals, func(o *ctl.Virtual) string { return o.Name })
	}
	perSecond := func(count func(*ctl.Virtual) int64, show func(float64) string) func(*ctl.Virtual) piece {
		return func(o *ctl.Virtual) piece { return text(show(rateOf(v, old, o.Name, *o, count))) }
	}
	return []column[ctl.Virtual]{
		{head: "VIRTUAL", left: true, cell: func(o *ctl.Virtual) piece { return text(o.Name) }},
		{head: "LISTEN", rank: 5, left: true, cell: func(o *ctl.Virtual) piece { return text(listens(o)) }},
		{head: "POOL", rank: 6, left: true, cell: func(o *ctl.Virtual) piece { return text(o.Pool) }},
		{head: "IN USE", cell: func(o *ctl.Virtual) piece { return of(o.Connections.Current, limitOf(o.Connections)) }},
		{head: "MOST", rank: 7, cell: func(o *ctl.Virtual) piece { return number(o.Connections.Maximum) }},
		{head: "CONN/S", rank: 2, cell: perSecond(func(o *ctl.Virtual) int64 { return o.Connections.Total }, speed)},
		{head: "WAITING", rank: 1, cell: func(o *ctl.Virtual) piece { return lit(o.Connq.Depth, note) }},
		{head: "REFUSED", rank: 3, cell: func(o *ctl.Virtual) piece { return lit(o.Refused, warning) }},
		{head: "UP B/S", rank: 4, cell: perSecond(func(o *ctl.Virtual) int64 { return o.Bytes.Up }, speed)},
		{head: "DOWN B/S", rank: 4, cell: perSecond(func(o *ctl.Virtual) int64 { return o.Bytes.Down }, speed)},
	}
}

// listens is where clients find a virtual server.
func listens(o *ctl.Virtual) string {
	switch {
	case o.Mode == "forward":
		return o.Listen + " forward"
	case onTap(*o):
		return o.Listen + " tap"
	}
	return o.Listen
}

func (v *view) tapColumns() []column[ctl.Tap] {
	var old map[string]ctl.Tap
	if v.before != nil {
		old = byName(v.before.taps, func(t *ctl.Tap) string { return t.Device })
	}
	perSecond := func(count func(*ctl.Tap) int64) func(*ctl.Tap) piece {
		return func(t *ctl.Tap) piece { return text(speed(rateOf(v, old, t.Device, *t, count))) }
	}
	room := func(t *ctl.Tap) int64 {
		if t.Handshakes.Limit == 0 {
			return none
		}
		return t.Handshakes.Limit
	}
	return []column[ctl.Tap]{
		{head: "TAP", left: true, cell: func(t *ctl.Tap) piece { return text(t.Device) }},
		{head: "STATE", rank: 1, left: true, cell: func(t *ctl.Tap) piece { return state(t.State()) }},
		{head: "", rank: 6, left: true, cell: func(t *ctl.Tap) piece { return gauge(t.Handshakes.Parked, room(t)) }},
		{head: "PARKED", cell: func(t *ctl.Tap) piece { return of(t.Handshakes.Parked, room(t)) }},
		{head: "PROVEN", rank: 5, cell: func(t *ctl.Tap) piece { return number(t.Handshakes.Proven) }},
		{head: "BEGUN/S", rank: 2, cell: perSecond(func(t *ctl.Tap) int64 { return t.Handshakes.Begun })},
		{head: "ACCEPTED/S", rank: 4, cell: perSecond(func(t *ctl.Tap) int64 { return t.Handshakes.Accepted })},
		{head: "DROPPED", rank: 3, cell: func(t *ctl.Tap) piece { return lit(t.Dropped(), warning) }},
		{head: "FORWARDED", rank: 5, cell: func(t *ctl.Tap) piece { return number(t.Forwarding.Connections) }},
		{head: "IN B/S", rank: 6, cell: perSecond(func(t *ctl.Tap) int64 { return t.Bytes.In })},
		{head: "OUT B/S", rank: 6, cell: perSecond(func(t *ctl.Tap) int64 { return t.Bytes.Out })},
	}
}

func (v *view) poolColumns() []column[ctl.Pool] {
	var old map[string]ctl.Pool
	if v.before != nil {
		old = byName(v.before.pools, func(p *ctl.Pool) string { return p.Name })
	}
	places := map[string]int{}
	for i := range v.current.pools {
		places[v.current.pools[i].Name] = i + 1
	}
	mark := func(p *ctl.Pool) piece {
		m, n := " ", " "
		if v.isChosen(*p) {
			m = ">"
		}
		if at := places[p.Name]; v.live && at <= 9 {
			n = strconv.Itoa(at)
		}
		return piece{m + n, note}
	}
	return []column[ctl.Pool]{
		{head: "", left: true, cell: mark},
		{head: "POOL", left: true, cell: func(p *ctl.Pool) piece { return text(p.Name) }},
		{head: "STATE", rank: 2, left: true, cell: func(p *ctl.Pool) piece { return state(p.State) }},
		{head: "", rank: 4, left: true, cell: func(p *ctl.Pool) piece { return gauge(p.Connections.Current, capacity(p)) }},
		{head: "IN USE", cell: func(p *ctl.Pool) piece { return of(p.Connections.Current, capacity(p)) }},
		{head: "", rank: 4, left: true, cell: func(p *ctl.Pool) piece { return gauge(p.Connq.Depth, depth(p)) }},
		{head: "WAITING", cell: func(p *ctl.Pool) piece { return of(p.Connq.Depth, depth(p)) }},
		{head: "AT MEMBERS", rank: 9, cell: func(p *ctl.Pool) piece { return lit(p.ConnqAll.Depth-p.Connq.Depth, note) }},
		{head: "OLDEST", rank: 3, cell: func(p *ctl.Pool) piece { return text(ctl.Span(p.ConnqAll.AgeHeadMs)) }},
		{head: "CONN/S", rank: 6, cell: func(p *ctl.Pool) piece {
			return text(speed(rateOf(v, old, p.Name, *p, func(p *ctl.Pool) int64 { return p.Connections.Total })))
		}},
		{head: "FREED/S", rank: 8, cell: func(p *ctl.Pool) piece { return text(maybe(p.ReleasesPerSecond, speed)) }},
		{head: "SERVED", rank: 7, cell: func(p *ctl.Pool) piece { return number(p.ConnqAll.Serviced) }},
		{head: "REFUSED", rank: 5, cell: func(p *ctl.Pool) piece { return lit(p.Refused(), warning) }},
		{head: "LEFT", rank: 8, cell: func(p *ctl.Pool) piece { return number(p.Abandoned) }},
	}
}

func (v *view) memberColumns(p *ctl.Pool) []column[ctl.Member] {
	var old map[string]ctl.Member
	if v.before != nil {
		for i := range v.before.pools {
			if v.before.pools[i].Name == p.Name {
				old = byName(v.before.pools[i].Members, func(m *ctl.Member) string { return m.Address })
			}
		}
	}
	return []column[ctl.Member]{
		{head: "MEMBER", left: true, cell: func(m *ctl.Member) piece { return text(m.Address) }},
		{head: "STATE", rank: 1, left: true, cell: func(m *ctl.Member) piece { return state(m.State) }},
		{head: "", rank: 4, left: true, cell: func(m *ctl.Member) piece { return gauge(m.Connections.Current, limitOf(m.Connections)) }},
		{head: "IN USE", cell: func(m *ctl.Member) piece { return of(m.Connections.Current, limitOf(m.Connections)) }},
		{head: "MOST", rank: 6, cell: func(m *ctl.Member) piece { return number(m.Connections.Maximum) }},
		{head: "WAITING", rank: 3, cell: func(m *ctl.Member) piece { return lit(m.Connq.Depth, note) }},
		{head: "CONN/S", rank: 5, cell: func(m *ctl.Member) piece {
			return text(speed(rateOf(v, old, m.Address, *m, func(m *ctl.Member) int64 { return m.Connections.Total })))
		}},
		{head: "FAILED", rank: 5, cell: func(m *ctl.Member) piece { return lit(m.DialFailures, warning) }},
		{head: "WHY", rank: 2, left: true, rest: true, cell: func(m *ctl.Member) piece { return text(m.Reason) }},
	}
}

var waiterColumns = []column[ctl.Waiter]{
	{head: "PLACE", cell: func(w *ctl.Waiter) piece { return number(w.Position) }},
	{head: "CLIENT", rank: 1, left: true, cell: func(w *ctl.Waiter) piece { return text(w.Client) }},
	{head: "VIRTUAL", rank: 6, left: true, cell: func(w *ctl.Waiter) piece { return text(w.Virtual) }},
	{head: "WAITS FOR", rank: 5, left: true, cell: func(w *ctl.Waiter) piece {
		if w.Queue == "pool" {
			return text("any member")
		}
		return text(w.Queue)
	}},
	{head: "WAITED", cell: func(w *ctl.Waiter) piece { return text(ctl.Span(w.AgeMs)) }},
	{head: "EXPECTED", rank: 3, cell: func(w *ctl.Waiter) piece { return text(maybe(w.ExpectedMs, ctl.Span)) }},
	{head: "CLASS", rank: 7, cell: func(w *ctl.Waiter) piece { return number(w.Class) }},
	{head: "TRIES", rank: 7, cell: func(w *ctl.Waiter) piece { return number(w.Tries) }},
}

// capacity is how many connections a pool can have at once: as many as its
// members can together, or fewer if it has a limit of its own; none is any
// number.
func capacity(p *ctl.Pool) int64 {
	all := int64(0)
	for i := range p.Members {
		limit := p.Members[i].Connections.Limit
		if limit == 0 || limit > math.MaxInt64-all {
			return limitOf(p.Connections)
		}
		all += limit
	}
	if own := p.Connections.Limit; own > 0 {
		return min(own, all)
	}
	return all
}

// none stands for a limit that there is not.
const none = -1

// limitOf reads what the API means by a limit.
func limitOf(c ctl.Connections) int64 {
	if c.Limit == 0 {
		return none
	}
	return c.Limit
}

// depth is how many may wait for a pool.
func depth(p *ctl.Pool) int64 {
	if p.EffectiveDepth == nil {
		return none
	}
	return *p.EffectiveDepth
}

func number(n int64) piece { return text(ctl.Count(n)) }

// lit is a number that is worth a look if it is not 0.
func lit(n int64, s style) piece {
	if n == 0 {
		s = normal
	}
	return piece{ctl.Count(n), s}
}

// of is a number of a limit. All of it is worth a look.
func of(n, limit int64) piece {
	if limit == none {
		return text(ctl.Count(n) + "/-")
	}
	return piece{ctl.Count(n) + "/" + ctl.Count(limit), fullness(n, limit)}
}

func gauge(n, limit int64) piece { return piece{bar(n, limit), fullness(n, limit)} }

func fullness(n, limit int64) style {
	switch {
	case n == 0 || limit <= 0:
		return normal
	case n >= limit:
		return warning
	}
	return good
}

// state is a word that says it all; its colour says it again.
func state(word string) piece {
	switch word {
	case "enabled", "up":
		return piece{word, good}
	case "down":
		return piece{word, bad}
	case "ramping", "probing":
		return piece{word, note}
	}
	return piece{plain(word), warning}
}

// speed is a number per second.
func speed(f float64) string {
	switch {
	case f < 0:
		return "-"
	case f == 0:
		return "0"
	case f < 999.5:
		return ctl.Figures(f)
	}
	return ctl.Size(int64(min(f, math.MaxInt64/2)))
}

// maybe is a value that the proxy may not know.
func maybe(v *float64, show func(float64) string) string {
	if v == nil {
		return "-"
	}
	return show(*v)
}
