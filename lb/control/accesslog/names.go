package accesslog

// Names turns the indices of proxy.Ended into what people call them.
type Names struct {
	Virtuals    []string // by virtual server
	Pools       []string // by virtual server: the name of its pool
	Members     []string // by member, as the dispatcher numbers them: its address
	MemberPools []string // by member: the name of its pool
}

// pool is the pool of the member that was dialled. The virtual server may have
// been given another one since; if nobody was dialled, its pool it is.
func (n *Names) pool(r *record) string {
	if r.member >= 0 {
		return name(n.MemberPools, int(r.member))
	}
	return name(n.Pools, int(r.virtual))
}

// name is "-" for what has no name.
func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "-"
	}
	return names[i]
}
