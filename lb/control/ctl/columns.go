package ctl

import "strings"

var virtualColumns = []column[virtual]{
	text("VIRTUAL", func(v *virtual) string { return v.Name }),
	text("LISTEN", func(v *virtual) string { return v.Listen }),
	text("POOL", func(v *virtual) string { return v.Pool }),
	number("CURRENT", func(v *virtual) int64 { return v.Connections.Current }),
	number("MOST", func(v *virtual) int64 { return v.Connections.Maximum }),
	fact("LIMIT", func(v *virtual) string { return limit(v.Connections.Limit) }),
	number("TOTAL", func(v *virtual) int64 { return v.Connections.Total }),
	number("WAITING", func(v *virtual) int64 { return v.Connq.Depth }),
	fact("OLDEST", func(v *virtual) string { return span(v.Connq.AgeHeadMs) }),
	number("SERVED", func(v *virtual) int64 { return v.Connq.Serviced }),
	number("REFUSED", func(v *virtual) int64 { return v.Refused }),
	quantity("BYTES UP", size, func(v *virtual) int64 { return v.Bytes.Up }),
	quantity("BYTES DOWN", size, func(v *virtual) int64 { return v.Bytes.Down }),
	number("RECORDS", func(v *virtual) int64 { return v.Persistence.Records }),
}

var poolColumns = []column[pool]{
	text("POOL", func(p *pool) string { return p.Name }),
	text("STATE", func(p *pool) string { return p.State }),
	number("CURRENT", func(p *pool) int64 { return p.Connections.Current }),
	number("MOST", func(p *pool) int64 { return p.Connections.Maximum }),
	fact("LIMIT", func(p *pool) string { return limit(p.Connections.Limit) }),
	number("TOTAL", func(p *pool) int64 { return p.Connections.Total }),
	number("WAITING", func(p *pool) int64 { return p.ConnqAll.Depth }),
	fact("ROOM", depthLimit),
	fact("OLDEST", func(p *pool) string { return span(p.ConnqAll.AgeHeadMs) }),
	fact("AVERAGE", func(p *pool) string { return span(p.ConnqAll.AgeEmaMs) }),
	fact("LONGEST", func(p *pool) string { return span(p.ConnqAll.AgeMaxMs) }),
	fact("RATE", func(p *pool) string {
		return known(p.ReleasesPerSecond, func(f float64) string { return figures(f) + "/s" })
	}),
	number("SERVED", func(p *pool) int64 { return p.ConnqAll.Serviced }),
	number("REFUSED", func(p *pool) int64 { return p.refused() }),
	number("LEFT", func(p *pool) int64 { return p.Abandoned }),
	text("WHY", func(p *pool) string { return p.Reason }),
}

// depthLimit is how many may wait.
func depthLimit(p *pool) string {
	if p.EffectiveDepth == nil {
		return "any"
	}
	return count(*p.EffectiveDepth)
}

func (o *outcomes) refused() int64 {
	return o.Expired + o.Overflowed + o.RefusedNoMember + o.Early + o.Shed + o.Flushed
}

var memberColumns = []column[member]{
	text("MEMBER", func(m *member) string { return m.Pool + "/" + m.Address }),
	text("STATE", func(m *member) string { return m.State }),
	number("CURRENT", func(m *member) int64 { return m.Connections.Current }),
	number("MOST", func(m *member) int64 { return m.Connections.Maximum }),
	fact("LIMIT", func(m *member) string { return limit(m.Connections.Limit) }),
	number("TOTAL", func(m *member) int64 { return m.Connections.Total }),
	number("WAITING", func(m *member) int64 { return m.Connq.Depth }),
	number("FAILED", func(m *member) int64 { return m.DialFailures }),
	quantity("BYTES UP", size, func(m *member) int64 { return m.Bytes.Up }),
	quantity("BYTES DOWN", size, func(m *member) int64 { return m.Bytes.Down }),
	text("WHY", func(m *member) string { return m.Reason }),
}

var nodeColumns = []column[node]{
	text("NODE", func(n *node) string { return n.Address }),
	text("STATE", func(n *node) string { return n.State }),
	number("CURRENT", func(n *node) int64 { return n.Connections.Current }),
	number("MOST", func(n *node) int64 { return n.Connections.Maximum }),
	fact("LIMIT", func(n *node) string { return limit(n.Connections.Limit) }),
	number("TOTAL", func(n *node) int64 { return n.Connections.Total }),
	quantity("BYTES UP", size, func(n *node) int64 { return n.Bytes.Up }),
	quantity("BYTES DOWN", size, func(n *node) int64 { return n.Bytes.Down }),
	text("MEMBERS", func(n *node) string { return strings.Join(n.Members, " ") }),
}

var waiterColumns = []column[waiter]{
	fact("PLACE", func(w *waiter) string { return count(w.Position) }),
	text("CLIENT", func(w *waiter) string { return w.Client }),
	text("VIRTUAL", func(w *waiter) string { return w.Virtual }),
	text("POOL", func(w *waiter) string { return w.Pool }),
	text("QUEUE", func(w *waiter) string { return w.Queue }),
	fact("WAITED", func(w *waiter) string { return span(w.AgeMs) }),
	fact("EXPECTED", func(w *waiter) string { return known(w.ExpectedMs, span) }),
	fact("CLASS", func(w *waiter) string { return count(w.Class) }),
	fact("TRIES", func(w *waiter) string { return count(w.Tries) }),
}
