package scenario

import (
	"slices"

	"penstock/bench/result"
)

// check looks at the whole, once each line is right by itself.
func (r *reading) check() {
	if r.s.Why == "" {
		r.missing("must begin with a comment that says why")
	}
	if r.s.About == "" {
		r.missing("about is missing")
	}
	if len(r.s.Proxies) == 0 && !r.program {
		r.missing("proxies is missing")
	}
	if len(r.s.Metrics) == 0 {
		r.missing("metric is missing")
	}
	for _, g := range r.s.Goals {
		r.checkGoal(g)
	}
	for i := range r.s.Cases {
		r.checkCase(&r.s.Cases[i])
	}
}

func (r *reading) checkGoal(g result.Goal) {
	if !slices.ContainsFunc(r.s.Metrics, func(m result.Metric) bool { return m.Name == g.Metric }) {
		r.missing("goal %w", wrong(g.Metric, "must be one of the metrics of this file"))
	}
	if g.To != "" && !slices.Contains(r.s.Proxies, g.To) {
		r.missing("goal %s: %w", g.Metric, wrongf(g.To, "must be one of the proxies of this file: %s", list(r.s.Proxies)))
	}
	if g.Case != "" && !slices.ContainsFunc(r.s.Cases, func(c Case) bool { return c.Name == g.Case }) {
		r.missing("goal %s: %w", g.Metric, wrong(g.Case, "must be one of the cases of this file"))
	}
}

func (r *reading) checkCase(c *Case) {
	processes := len(c.Servers) + len(c.Clients)
	switch {
	case r.program && processes > 0:
		r.missing("server and client can't be with program")
	case r.program:
		return
	case len(c.Servers) == 0:
		r.missing("server is missing")
	case len(c.Clients) == 0:
		r.missing("client is missing")
	}
	for _, m := range r.s.Metrics {
		if _, client, _ := known(m.Name); client != "" && !c.hasClient(client) {
			r.missing("metric %s: %w", m.Name, wrong(client, "must be the name of a client"))
		}
	}
}

func (c *Case) hasClient(name string) bool {
	return slices.ContainsFunc(c.Clients, func(o Client) bool { return o.Name == name })
}
