package main

import (
	"log/slog"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

// openAccessLog opens what -access-log names; nil if it is off.
func openAccessLog(c *config.Config, loops int, e env, log *slog.Logger) (*accesslog.Log, error) {
	cfg := accesslog.Config{Format: c.LogFormat, Names: logNames(c), Loops: loops, Warn: log}
	switch c.AccessLog {
	case "", "off":
		return nil, nil
	case "stderr":
		return accesslog.New(e.stderr, cfg), nil
	default:
		return accesslog.Open(c.AccessLog, cfg)
	}
}

func logNames(c *config.Config) (n accesslog.Names) {
	for _, v := range c.Virtuals {
		n.Virtuals = append(n.Virtuals, v.Name)
		n.Pools = append(n.Pools, c.Pools[v.Pool].Name)
	}
	for _, p := range c.Pools {
		for _, m := range p.Members {
			n.Members = append(n.Members, m.Address.String())
		}
	}
	return n
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
