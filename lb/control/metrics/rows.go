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
	t.gauge("clients", "Clients connected now, those that wait too.", func(v *virtualSample) float64 { return float64(v.Open) })
	t.gauge("connections", "Connections to servers now.", func(v *virtualSample) float64 { return float64(v.InUse) })
	t.gauge("connections_max", "Most connections to servers at once so far.",
		func(v *virtualSample) float64 { return float64(v.Most) })
	t.gauge("connection_limit", "Most connections to servers that it may have"+limitHelp,
		func(v *virtualSample) float64 { return limitOf(v.Load) })
	t.counter("accepted", "Clients accepted.", func(v *virtualSample) float64 { return float64(v.Connections) })
	t.counter("refused", "Clients refused, at once or after they waited.",
		func(v *virtualSample) float64 { return float64(v.Refused) })
	t.counter("bad_headers", "Clients cut off since they brought no PROXY header, though they have to.",
		func(v *virtualSample) float64 { return float64(v.BadHeaders) })
	t.counter("bytes", bytesHelp, func(v *virtualSample) float64 { return float64(v.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(v *virtualSample) float64 { return float64(v.BytesDown) }, "direction", "down")
	t.gauge("persistence_records", "Clients that are persisted to a member.",
		func(v *virtualSample) float64 { return float64(v.records) })
	t.gauge("persistence_bytes", "Memory that the records of persistence take.",
		func(v *virtualSample) float64 { return float64(v.recordBytes) })
	queueRows(&t, "connq", "for this virtual server", func(v *virtualSample) queue { return v.queue })
	outcomeRows(&t, func(v *virtualSample) queue { return v.queue })
	return t
}

func poolTable() table[*poolSample] {
	t := table[*poolSample]{kind: "pool", labels: []string{"pool"}}
	t.gauge("connections", "Connections to all members now.", func(p *poolSample) float64 { return float64(p.InUse) })
	t.gauge("connections_max", "Most connections to all members at once so far.",
		func(p *poolSample) float64 { return float64(p.Most) })
	t.gauge("connection_limit", "Most connections that all members may have"+limitHelp,
		func(p *poolSample) float64 { return limitOf(p.Load) })
	t.counter("dials", "Connections begun to members.", func(p *poolSample) float64 { return float64(p.Connections) })
	t.counter("bytes", bytesHelp, func(p *poolSample) float64 { return float64(p.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(p *poolSample) float64 { return float64(p.BytesDown) }, "direction", "down")
	t.gauge("members", "Members of the pool by whether they take new connections.",
		func(p *poolSample) float64 { return float64(p.up) }, "state", "up")
	t.gauge("members", "Members of the pool by whether they take new connections.",
		func(p *poolSample) float64 { return float64(p.members - p.up) }, "state", "down")
	t.gauge("paused", "1 if an operator makes all clients wait.", func(p *poolSample) float64 { return flag(p.paused) })
	t.gauge("release_rate", "Waiting clients that are served in a second, NaN if that is not known.",
		(*poolSample).releaseRate)
	t.gauge("connq_depth_limit", "Most clients that may wait in the pool's own queue, +Inf if any number.",
		(*poolSample).depthLimit)
	queueRows(&t, "connq", "in the pool's own queue", func(p *poolSample) queue { return p.own })
	queueRows(&t, "connq_all", "in the queues of the pool and its members", func(p *poolSample) queue { return p.all })
	outcomeRows(&t, func(p *poolSample) queue { return p.all })
	return t
}

func memberTable() table[*memberSample] {
	t := table[*memberSample]{kind: "member", labels: []string{"pool", "member"}}
	t.gauge("connections", "Connections to the member now.", func(m *memberSample) float64 { return float64(m.InUse) })
	t.gauge("connections_max", "Most connections to the member at once so far.",
		func(m *memberSample) float64 { return float64(m.Most) })
	t.gauge("connection_limit", "Most connections that the member may have"+limitHelp,
		func(m *memberSample) float64 { return limitOf(m.Load) })
	t.gauge("connection_limit_in_force", "The same as slow ramp has it now.", (*memberSample).inForce)
	t.counter("dials", "Connections begun to the member.", func(m *memberSample) float64 { return float64(m.Connections) })
	t.counter("dial_failures", "Dials that were refused or timed out.",
		func(m *memberSample) float64 { return float64(m.DialFailures) })
	t.counter("bytes", bytesHelp, func(m *memberSample) float64 { return float64(m.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(m *memberSample) float64 { return float64(m.BytesDown) }, "direction", "down")
	queueRows(&t, "connq", "for this member alone", func(m *memberSample) queue { return m.queue })
	outcomeRows(&t, func(m *memberSample) queue { return m.queue })
	stateRows(&t)
	return t
}

func operatorRows[T any](t *table[T], help string, of func(T) dispatch.State) {
	for s, word := range map[dispatch.State]string{
		dispatch.Enabled: "enabled", dispatch.Disabled: "disabled", dispatch.Offline: "offline",
	} {
		t.gauge("state", help, func(o T) float64 { return flag(of(o) == s) }, "state", word)
	}
}

func stateRows(t *table[*memberSample]) {
	operatorRows(t, "1 for what the operator decided about the member or its node.",
		func(m *memberSample) dispatch.State { return m.State })
	t.gauge("up", "1 if the member takes new connections: neither the operator nor its monitor says otherwise.",
		func(m *memberSample) float64 { return flag(m.up()) })
	t.gauge("monitored", "1 if a monitor watches the member.", func(m *memberSample) float64 { return flag(m.monitored) })
	t.gauge("ramping", "1 while slow ramp holds the member's limit down.",
		func(m *memberSample) float64 { return flag(m.Ramp > 0) })
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
	t.gauge("connections_max", "Most connections to the server in all pools at once so far.",
		func(n *nodeSample) float64 { return float64(n.Most) })
	t.gauge("connection_limit", "Most connections that the server may have in all pools"+limitHelp,
		func(n *nodeSample) float64 { return limitOf(n.Load) })
	operatorRows(&t, "1 for what the operator decided about the server.",
		func(n *nodeSample) dispatch.State { return n.state })
	t.counter("dials", "Connections begun to the server in all pools.",
		func(n *nodeSample) float64 { return float64(n.Connections) })
	t.counter("bytes", bytesHelp, func(n *nodeSample) float64 { return float64(n.BytesUp) }, "direction", "up")
	t.counter("bytes", bytesHelp, func(n *nodeSample) float64 { return float64(n.BytesDown) }, "direction", "down")
	return t
}
