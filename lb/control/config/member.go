package config

// defaultName is the virtual server and the pool that -listen makes, and the
// pool of a member that names none.
const defaultName = "default"

// ratioOfNode is the ratio of a member that has none of its own.
const ratioOfNode = "node"

// memberKeys is what can be set on a member. The first key is the one a bare
// first word stands for.
var memberKeys = []key[Member]{
	fix(key[Member]{
		name: "address", form: "IP:PORT", help: "the server; [IPv6]:PORT",
		set: func(m *Member, s string) error { return assign(&m.Address, s, parseMember) },
		get: func(m *Member) string { return m.Address.String() },
	}, true),
	poolKey[Member]("the pool it belongs to, if not to default"),
	limitKey("connection-limit", "no limit", "connections to it at once",
		func(m *Member) *int64 { return &m.ConnectionLimit }),
	ratioKey(ratioOfNode, ratioOfNode, "its share with load-balancing-mode=ratio or least-connections",
		func(m *Member) *int { return &m.Ratio }),
	countKey("priority-group", "0", "the highest is used first, see min-active-members", counts{max: 65535},
		func(m *Member) *int { return &m.PriorityGroup }),
	choiceKey("state", "disabled: clients that belong to it only; offline: nobody; what is connected goes on", stateWords,
		func(m *Member) *State { return &m.State }),
}

// nodeKeys is what can be set on a node.
var nodeKeys = []key[Node]{
	fix(key[Node]{
		name: "address", form: "IP", help: "the server, without port",
		set: func(n *Node, s string) error {
			return assign(&n.Address, s, parseNode)
		},
		get: func(n *Node) string { return n.Address.String() },
	}, true),
	limitKey("connection-limit", "no limit", "connections to it at once, in all pools",
		func(n *Node) *int64 { return &n.ConnectionLimit }),
	ratioKey("1", "", "ratio of its members that have none of their own",
		func(n *Node) *int { return &n.Ratio }),
	choiceKey("state", "as a member's, for all its members", stateWords,
		func(n *Node) *State { return &n.State }),
}

// Ratio is a member's share: its own, else its node's.
func (c *Config) Ratio(m *Member) int {
	if m.Ratio > 0 {
		return m.Ratio
	}
	return c.Nodes[m.Node].Ratio
}
