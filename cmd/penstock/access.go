package main

import (
	"log/slog"
	"slices"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

// openAccessLog opens what -access-log names; nil if it is off.
func openAccessLog(c *config.Config, loops int, e env, log *slog.Logger) (*accesslog.Log, error) {
	cfg := accesslog.Config{Format: c.LogFormat, Names: logNames(c, accesslog.Names{}), Loops: loops, Warn: log}
	switch c.AccessLog {
	case "", "off":
		return nil, nil
	case "stderr":
		return accesslog.New(e.stderr, cfg), nil
	default:
		return accesslog.Open(c.AccessLog, cfg)
	}
}

// logNames is what the log calls the objects of c. Those that were removed and
// whose connections go on keep the names they had in was.
func logNames(c *config.Config, was accesslog.Names) accesslog.Names {
	n := accesslog.Names{
		Virtuals: slices.Clone(was.Virtuals), Pools: slices.Clone(was.Pools),
		Members: slices.Clone(was.Members), MemberPools: slices.Clone(was.MemberPools),
	}
	for i := range c.Virtuals {
		v := &c.Virtuals[i]
		put(&n.Virtuals, v.ID, v.Name)
		put(&n.Pools, v.ID, c.Pools[v.Pool].Name)
	}
	for i := range c.Pools {
		for j := range c.Pools[i].Members {
			m := &c.Pools[i].Members[j]
			put(&n.Members, m.ID, m.Address.String())
			put(&n.MemberPools, m.ID, c.Pools[i].Name)
		}
	}
	return n
}

func put(names *[]string, id int, name string) {
	for id >= len(*names) {
		*names = append(*names, "")
	}
	(*names)[id] = name
}

// ended returns what the proxy calls at a connection's end.
func ended(l *accesslog.Log) func(int, *proxy.Ended) {
	if l == nil {
		return nil
	}
	return l.Ended
}

func reopen(l *accesslog.Log, log *slog.Logger) {
	if l == nil {
		return
	}
	if err := l.Reopen(); err != nil && err != accesslog.ErrNoFile {
		log.Error("reopen access log", "error", err)
	}
}
