package client

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a Config.
const (
	MostFlows = 1_000_000
	MostLoops = 256
	MostBytes = 1 << 40 // of a message
	MostRate  = 10_000_000
	MostTime  = 24 * time.Hour
	MostAddrs = 65_536 // sources
)

// Check returns every mistake, joined, each with the flag, its value and what
// is allowed. A target that is missing is none: in a scenario it is known later.
func (c *Config) Check() error {
	var m mistakes
	c.checkWork(&m)
	c.checkModel(&m)
	c.checkNumbers(&m)
	c.checkSources(&m)
	return errors.Join(m...)
}

// complaint is Check, and that there is a target.
func (c *Config) complaint() error {
	if !c.Target.IsValid() {
		return errors.Join(errors.New("-target is missing: the address and port to connect to"), c.Check())
	}
	return c.Check()
}

// mistakes collects them.
type mistakes []error

// want notes a mistake if not ok.
func (m *mistakes) want(ok bool, flag string, value any, allowed string) {
	if !ok {
		*m = append(*m, fmt.Errorf("-%s %v: %s", flag, value, allowed))
	}
}

// between wants a number in its bounds.
func between[T int | time.Duration](m *mistakes, flag string, value, least, most T) {
	m.want(value >= least && value <= most, flag, value, fmt.Sprintf("must be from %v to %v", least, most))
}

func oneOf[T comparable](v T, of ...T) bool {
	for _, o := range of {
		if v == o {
			return true
		}
	}
	return false
}

// checkWork looks at the work and at what only some work has.
func (c *Config) checkWork(m *mistakes) {
	w := c.Work
	asks := oneOf(w, Short, Half, Keep)
	m.want(asks || w == Bulk || w == Hold, "work", fmt.Sprintf("%q", w), "must be short, half, keep, bulk or hold")
	m.want(oneOf(c.Direction, "", Down, Up, Both), "direction", fmt.Sprintf("%q", c.Direction), "must be down, up or both")
	m.want(oneOf(c.Direction, "", Down) || w == Bulk, "direction", c.Direction, "needs -work bulk")
	m.want(oneOf(c.GiveUp, "", Close, Reset, Silence), "give-up", fmt.Sprintf("%q", c.GiveUp), "must be close, reset or silence")
	m.want(c.Patience.Zero() || asks, "patience", c.Patience, "needs -work short, half or keep")
	m.want(c.Think.Zero() || w == Keep, "think", c.Think, "needs -work keep")
	m.want(c.Requests == 0 || w == Keep, "requests", c.Requests, "needs -work keep")
	m.want(c.ReadRate == 0 || asks || w == Bulk && c.Direction != Up, "read-rate", c.ReadRate, "needs work that receives: not hold, not bulk up")
	m.want(c.Request > 0 || w == Hold, "request", c.Request, "must be at least 1, but for -work hold")
	m.want(c.Response > 0 || w == Hold || w == Bulk, "response", c.Response, "must be at least 1, but for -work bulk and hold")
}

// checkModel looks at what decides when connections begin and the run ends.
func (c *Config) checkModel(m *mistakes) {
	asks := oneOf(c.Work, Short, Half, Keep)
	if c.Open() {
		m.want(asks, "arrivals", c.Arrivals, "needs -work short, half or keep")
		m.want(c.Work != Keep || c.Requests > 0, "requests", c.Requests, "must be at least 1 with -arrivals")
	}
	m.want(!c.Sustain || c.Open() && c.Total == 0, "sustain", c.Sustain, "needs -arrivals, and no -total")
	m.want(c.Total == 0 || asks, "total", c.Total, "needs -work short, half or keep")
	m.want(c.For > 0 || c.Total > 0 || c.Work == Hold, "for", c.For, "must be more than 0, unless there is -total")
}

func (c *Config) checkNumbers(m *mistakes) {
	between(m, "flows", c.Flows, 0, MostFlows)
	between(m, "loops", c.Loops, 0, MostLoops)
	between(m, "request", c.Request, 0, MostBytes)
	between(m, "response", c.Response, 0, MostBytes)
	between(m, "requests", c.Requests, 0, MostFlows*1000)
	between(m, "total", c.Total, 0, MostFlows*1000)
	between(m, "read-rate", c.ReadRate, 0, MostBytes)
	between(m, "rate", c.Rate, 0, MostRate)
	between(m, "warm", c.Warm, 0, MostTime)
	between(m, "for", c.For, 0, MostTime)
	between(m, "drain", c.Drain, 0, MostTime)
	between(m, "late", c.Late, 0, MostTime)
	between(m, "connect-timeout", c.ConnectTimeout, 0, MostTime)
	for _, pid := range c.Watch {
		m.want(pid > 0, "watch", pid, "must be the number of a process")
	}
}

func (c *Config) checkSources(m *mistakes) {
	between(m, "sources", c.Sources, 0, MostAddrs)
	if !c.Source.IsValid() {
		m.want(c.Sources <= 1, "sources", c.Sources, "needs -source, the first address")
		return
	}
	m.want(c.Sources > MostAddrs || len(c.sources()) >= c.Sources, "sources", c.Sources, fmt.Sprintf("there are not so many addresses from %v on", c.Source))
	m.want(!c.Target.IsValid() || c.Target.Addr().Unmap().Is4() == c.Source.Unmap().Is4(), "source", c.Source,
		fmt.Sprintf("must be of the same family as the target %v", c.Target))
}
