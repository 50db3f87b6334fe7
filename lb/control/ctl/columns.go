package ctl

import "strings"

var virtualColumns = []column[virtual]{
	text("VIRTUAL", func(v *virtual) string { return v.Name }),
	text("LISTEN", func(v *virtual) string { return v.Listen }),
	text("FRONT", func(v *virtual) string { return v.Front }),
	text("MODE", func(v *virtual) string { return v.Mode }),
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

var tapColumns = []column[tapFront]{
	text("TAP", func(t *tapFront) string { return t.Device }),
	text("STATE", func(t *tapFront) string { return t.state() }),
	number("PARKED", func(t *tapFront) int64 { return t.Handshakes.Parked }),
	number("PROVEN", func(t *tapFront) int64 { return t.Handshakes.Proven }),
	fact("ROOM", func(t *tapFront) string { return limit(t.Handshakes.Limit) }),
	number("BEGUN", func(t *tapFront) int64 { return t.Handshakes.Begun }),
	number("RELEASED", func(t *tapFront) int64 { return t.Handshakes.Released }),
	number("ACCEPTED", func(t *tapFront) int64 { return t.Handshakes.Accepted }),
	number("DROPPED", func(t *tapFront) int64 { return t.dropped() }),
	number("FORWARDED", func(t *tapFront) int64 { return t.Forwarding.Connections }),
	quantity("BYTES IN", size, func(t *tapFront) int64 { return t.Bytes.In }),
	quantity("BYTES OUT", size, func(t *tapFront) int64 { return t.Bytes.Out }),
	text("VIRTUALS", func(t *tapFront) string { return strings.Join(t.Virtuals, " ") }),
}

var serverLinkColumns = []column[serverLink]{
	text("SERVERS' TAP", func(s *serverLink) string { return s.Device }),
	text("STATE", func(s *serverLink) string { return upDown(s.Up) }),
	number("FRAMES IN", func(s *serverLink) int64 { return s.Frames.In }),
	number("FRAMES OUT", func(s *serverLink) int64 { return s.Frames.Out }),
	number("NOT TAKEN", func(s *serverLink) int64 { return s.Frames.Dropped }),
	number("MISSED", func(s *serverLink) int64 { return s.Frames.Missed }),
	quantity("BYTES IN", size, func(s *serverLink) int64 { return s.Bytes.In }),
	quantity("BYTES OUT", size, func(s *serverLink) int64 { return s.Bytes.Out }),
}

func (t *tapFront) state() string {
	if t.Up && t.Servers != nil && !t.Servers.Up {
		return "servers down"
	}
	return upDown(t.Up)
}

func upDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// dropped is how many SYNs were.
func (t *tapFront) dropped() int64 {
	return t.Handshakes.DroppedFull + t.Handshakes.DroppedShare + t.Handshakes.BadChecksum
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
