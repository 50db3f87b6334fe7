package accesslog

// Names turns the indices of proxy.Ended into what people call them.
type Names struct {
	Virtuals []string // by virtual server
	Pools    []string // by virtual server: the name of its pool
	Members  []string // by member, as the dispatcher numbers them: its address
}

// name is "-" for what has no name.
func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "-"
	}
	return names[i]
}
