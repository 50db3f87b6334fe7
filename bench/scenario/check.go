package scenario

import (
	"slices"
	"strconv"

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
	for _, name := range []string{g.Case, g.Over} {
		if name != "" && !slices.ContainsFunc(r.s.Cases, func(c Case) bool { return c.Name == name }) {
			r.missing("goal %s: %w", g.Metric, wrong(name, "must be one of the cases of this file"))
		}
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
	r.checkLink(c)
	r.checkReflect(c)
	if c.Later != "" && !c.late() {
		r.missing("memory: %w", wrong(c.Memory+" "+c.Later, "needs a client that holds behind one that does not"))
	}
	for _, name := range c.Without {
		if i := slices.Index(r.s.Proxies, name); i < 1 {
			r.missing("without: %w", wrongf(name, "must be one of the proxies of this file, and not the first: %s", list(r.s.Proxies)))
		}
	}
	for _, m := range r.s.Metrics {
		if _, client, _ := known(m.Name); client != "" && !c.hasClient(client) {
			r.missing("metric %s: %w", m.Name, wrong(client, "must be the name of a client"))
		}
	}
}

// checkLink looks at what a link has room for, and what needs one.
func (r *reading) checkLink(c *Case) {
	if c.Link && c.Copies > 1 {
		r.missing("copies: %w", wrongf(strconv.Itoa(c.Copies), "must be 1 with network link: a link has one proxy at its end"))
	}
	if slices.ContainsFunc(c.Clients, func(o Client) bool { return o.Syn != nil }) && !c.Link {
		r.missing("syn needs network link: its clients are no host's of loopback")
	}
}

// checkReflect looks at what a reflector needs.
func (r *reading) checkReflect(c *Case) {
	switch at := slices.IndexFunc(c.Servers, func(s Server) bool { return s.Reflect != nil }); {
	case at < 0:
	case !c.Links:
		r.missing("reflect needs network links: it is no host of loopback")
	case len(c.Servers) > 1 || c.Members > 1:
		r.missing("reflect must be the only server, with one member: it answers for all that comes")
	case slices.Contains(r.s.Proxies, result.Without) && !slices.Contains(c.Without, result.Without):
		r.missing("reflect: %w", wrong(result.Without, "must not be one of the proxies: a reflector is behind one"))
	}
}

// late says that some come last.
func (c *Case) late() bool {
	for i := range c.Clients {
		if c.Late(i) {
			return true
		}
	}
	return false
}

func (c *Case) hasClient(name string) bool {
	return slices.ContainsFunc(c.Clients, func(o Client) bool { return o.Name == name })
}
