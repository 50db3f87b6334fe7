package metrics

import (
	"penstock/lb/dispatch"
)

const (
	limitHelp = ", +Inf if there is no limit."
	bytesHelp = "Bytes passed on: up from clients to servers, down the other way."
)

func processTable() (t table[View]) {
	t.gauge("descriptors", "Descriptors that connections hold.",
		func(v View) float64 { used, _ := v.Budget(); return float64(used) })
	t.gauge("descriptors_limit", "Descriptors that connections may hold.",
		func(v View) float64 { _, most := v.Budget(); return float64(most) })
	t.gauge("draining", "1 if no new connections are accepted, since the process is about to end.",
		func(v View) float64 { return flag(v.Draining()) })
	return t
}

func virtualTable() table[*virtualSample] {
	t := table[*virtualSample]{kind: "virtual", labels: []string{"virtual"}}
	t.gauge("connections", "Connections to servers now.", func(v *virtualSample) float64 { return float64(v.InUse) })
	t.gauge("connection_limit", "Most connections to servers"+limitHelp,
		func(v *virtualSample) float64 { return limitOf(v.Load) })
	t.counter("accepted", "Clients accepted.", func(v *virtualSample) float64 { return float64(v.Connections) })
	t.counter("refused", "Clients refused, at once or after they waited.",
		func(v *virtualSample) float64 { return float64(v.Refused) })
	t.counter("bytes", bytesHelp, func(v *virtualSample) float64 { return float64(v.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(v *virtualSample) float64 { return float64(v.BytesDown) }, "direction", "down")
	return t
}

func poolTable() table[*poolSample] {
	t := table[*poolSample]{kind: "pool", labels: []string{"pool"}}
	t.gauge("connections", "Connections to all members now.", func(p *poolSample) float64 { return float64(p.InUse) })
	t.gauge("connection_limit", "Most connections to all members"+limitHelp,
		func(p *poolSample) float64 { return limitOf(p.Load) })
	t.counter("dials", "Connections begun to members.", func(p *poolSample) float64 { return float64(p.Connections) })
	t.counter("bytes", bytesHelp, func(p *poolSample) float64 { return float64(p.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(p *poolSample) float64 { return float64(p.BytesDown) }, "direction", "down")
	queueRows(&t)
	outcomeRows(&t)
	return t
}

func queueRows(t *table[*poolSample]) {
	t.gauge("connq_depth", "Clients that wait in the pool's own queue.",
		func(p *poolSample) float64 { return float64(p.Waiting) })
	t.gauge("connq_all_depth", "Clients that wait, in the queues of the members too.",
		func(p *poolSample) float64 { return float64(p.allDepth) })
	t.gauge("connq_depth_limit", "Most clients that may wait in the pool's own queue, +Inf if any number.",
		(*poolSample).depthLimit)
	t.gauge("connq_age_head_seconds", "How long the oldest has waited, 0 if nobody waits.", (*poolSample).ageHead)
	t.gauge("connq_age_max_seconds", "Longest wait of those served.",
		func(p *poolSample) float64 { return seconds(p.stats.AgeMax.Load()) })
	t.gauge("connq_age_ema_seconds", "Exponential moving average of the waits of those served.",
		func(p *poolSample) float64 { return seconds(p.stats.AgeEma.Load()) })
	t.gauge("connq_age_edm_seconds", "Exponentially decaying maximum of the waits of those served.",
		func(p *poolSample) float64 { return seconds(p.stats.AgeEdm.Load()) })
	t.counter("connq_serviced", "Clients that left the queue to be served.",
		func(p *poolSample) float64 { return float64(p.stats.Serviced.Load()) })
}

func outcomeRows(t *table[*poolSample]) {
	count := func(name, help string, of func(*dispatch.PoolStats) uint64) {
		t.counter(name, help, func(p *poolSample) float64 { return float64(of(p.stats)) })
	}
	count("expired", "Clients refused since they waited too long.",
		func(s *dispatch.PoolStats) uint64 { return s.Expired.Load() })
	count("overflowed", "Clients refused since the queue was full or off.",
		func(s *dispatch.PoolStats) uint64 { return s.Overflowed.Load() })
	count("abandoned", "Clients that left while they waited.",
		func(s *dispatch.PoolStats) uint64 { return s.Abandoned.Load() })
	count("moved", "Clients moved from a member's queue to the pool's.",
		func(s *dispatch.PoolStats) uint64 { return s.Moved.Load() })
	count("requeued", "Clients put back to their place after a dial failed.",
		func(s *dispatch.PoolStats) uint64 { return s.Requeued.Load() })
	count("refused_no_member", "Clients refused since no member took any.",
		func(s *dispatch.PoolStats) uint64 { return s.RefusedNoMember.Load() })
}

func memberTable() table[*memberSample] {
	t := table[*memberSample]{kind: "member", labels: []string{"pool", "member"}}
	t.gauge("connections", "Connections to the member now.", func(m *memberSample) float64 { return float64(m.InUse) })
	t.gauge("connection_limit", "Most connections to the member"+limitHelp,
		func(m *memberSample) float64 { return limitOf(m.Load) })
	t.counter("dials", "Connections begun to the member.", func(m *memberSample) float64 { return float64(m.Connections) })
	t.counter("dial_failures", "Dials that were refused or timed out.",
		func(m *memberSample) float64 { return float64(m.DialFailures) })
	t.counter("bytes", bytesHelp, func(m *memberSample) float64 { return float64(m.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(m *memberSample) float64 { return float64(m.BytesDown) }, "direction", "down")
	t.gauge("connq_depth", "Clients that wait for this member alone.",
		func(m *memberSample) float64 { return float64(m.Waiting) })
	stateRows(&t)
	return t
}

func stateRows(t *table[*memberSample]) {
	for s, word := range map[dispatch.State]string{
		dispatch.Enabled: "enabled", dispatch.Disabled: "disabled", dispatch.Offline: "offline",
	} {
		t.gauge("state", "1 for what the operator decided about the member or its node.",
			func(m *memberSample) float64 { return flag(m.State == s) }, "state", word)
	}
	t.gauge("back_off", "1 if a dial failed: nobody is sent there until a probe succeeds.",
		func(m *memberSample) float64 { return flag(m.ill()) })
	t.gauge("back_off_seconds", "Time until one client probes the member; 0 if it is well, or its probe is due or under way.",
		(*memberSample).backOff)
	t.gauge("probing", "1 while one client probes the member.",
		func(m *memberSample) float64 { return flag(m.Probing) })
}

func nodeTable() table[*nodeSample] {
	t := table[*nodeSample]{kind: "node", labels: []string{"node"}}
	t.gauge("connections", "Connections to the server in all pools now.",
		func(n *nodeSample) float64 { return float64(n.InUse) })
	t.gauge("connection_limit", "Most connections to the server in all pools"+limitHelp,
		func(n *nodeSample) float64 { return limitOf(n.Load) })
	t.counter("dials", "Connections begun to the server in all pools.",
		func(n *nodeSample) float64 { return float64(n.Connections) })
	t.counter("bytes", bytesHelp, func(n *nodeSample) float64 { return float64(n.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(n *nodeSample) float64 { return float64(n.BytesDown) }, "direction", "down")
	return t
}
