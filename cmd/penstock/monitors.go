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

// watched is what the monitors have been told to check last.
type watched struct {
	in      *config.Config
	members map[int]checked   // by number
	places  map[string][2]int // pool and member in it, by what the monitor calls it
}

// checked is a member that has a monitor.
type checked struct{ kind, key string }

func watchedIn(c *config.Config) *watched {
	w := &watched{c, map[int]checked{}, map[string][2]int{}}
	for i := range c.Pools {
		p := &c.Pools[i]
		if p.Monitor == config.MonitorNone {
			continue
		}
		for j := range p.Members {
			key := memberKey(p, p.Members[j].Address)
			w.members[p.Members[j].ID] = checked{p.Monitor.String(), key}
			w.places[key] = [2]int{i, j}
		}
	}
	return w
}

// place finds a member of c that has a monitor.
func (w *watched) place(c *config.Config, key string) (i, j int, ok bool) {
	if w.in == c {
		at, ok := w.places[key]
		return at[0], at[1], ok
	}
	i, j = memberOfKey(c, key) // the monitors are about to be told
	return i, j, i >= 0 && c.Pools[i].Monitor != config.MonitorNone
}

// MonitorState is what a member's monitor found out; see metrics.Process.
func (k *control) MonitorState(member int) (kind string, up bool, reason string, since time.Time) {
	of, ok := k.watched.Load().members[member]
	if !ok {
		return "none", true, "", time.Time{}
	}
	up, reason, since, _ = k.monitor.State(of.key)
	return of.kind, up, reason, since
}
