package main

import (
	"time"

	"penstock/lb/control/config"
	"penstock/stack/monitor"
	"penstock/stack/proxyheader"
)

// targets are the members that are monitored, and how.
func targets(c *config.Config) (all []monitor.Target) {
	for i := range c.Pools {
		p := &c.Pools[i]
		if p.Monitor == config.MonitorNone {
			continue
		}
		for j := range p.Members {
			t := monitor.Target{
				Key: memberKey(p, p.Members[j].Address), Address: p.Members[j].Address,
				Interval: p.MonitorInterval, Timeout: p.MonitorTimeout,
				Proxy: proxyheader.Version(p.SendProxy),
			}
			if p.Monitor == config.MonitorHTTP {
				t.Kind, t.Send, t.Recv = monitor.HTTP, p.MonitorSend, p.MonitorRecv
			}
			all = append(all, t)
		}
	}
	return all
}

// checked is a member that has a monitor.
type checked struct{ kind, key string }

// checkedIn returns those of c, by their numbers.
func checkedIn(c *config.Config) map[int]checked {
	all := map[int]checked{}
	for i := range c.Pools {
		p := &c.Pools[i]
		for j := range p.Members {
			if p.Monitor != config.MonitorNone {
				all[p.Members[j].ID] = checked{p.Monitor.String(), memberKey(p, p.Members[j].Address)}
			}
		}
	}
	return all
}

// MonitorState is what a member's monitor found out; see metrics.Process.
func (k *control) MonitorState(member int) (kind string, up bool, reason string, since time.Time) {
	of, ok := (*k.checked.Load())[member]
	if !ok {
		return "none", true, "", time.Time{}
	}
	up, reason, since, _ = k.monitor.State(of.key)
	return of.kind, up, reason, since
}
