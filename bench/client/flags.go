package client

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bind binds the flags to the fields and gives these their defaults.
func (c *Config) Bind(fs *flag.FlagSet) {
	c.bindWork(fs)
	c.bindModel(fs)
	c.bindAddresses(fs)
}

func (c *Config) bindWork(fs *flag.FlagSet) {
	fs.StringVar((*string)(&c.Work), "work", string(Short), "what each connection does: short, half, keep, bulk or hold")
	fs.StringVar((*string)(&c.Direction), "direction", string(Down), "bulk: down, up or both")
	fs.IntVar(&c.Request, "request", 64, "`BYTES` of a request; hold: 0 asks nothing")
	fs.IntVar(&c.Response, "response", 256, "`BYTES` of a response")
	fs.IntVar(&c.Requests, "requests", 0, "keep: requests on a connection, then another one; 0: without end")
	fs.Var(&c.Think, "think", "keep: `SPAN` between a response and the next request, as 5ms, exp:5ms, uniform:1ms..9ms")
	fs.Var(&c.Patience, "patience", "`SPAN` that a client waits for the first byte of its response; 0s: for ever")
	fs.StringVar((*string)(&c.GiveUp), "give-up", string(Close), "how a client leaves whose patience is over: close, reset or silence")
	fs.IntVar(&c.ReadRate, "read-rate", 0, "most `BYTES` a second that a connection receives; 0: all that comes")
}

func (c *Config) bindModel(fs *flag.FlagSet) {
	fs.Var(&c.Arrivals, "arrivals", "open model: when connections are due, a `SCHEDULE` of constant:RATE, poisson:RATE, burst:N@EVERY and ramp:FROM..TO, each with /DURATION, comma-separated")
	fs.IntVar(&c.Flows, "flows", 0, "connections at a time; 0: 64, or in the open model what descriptors allow")
	fs.IntVar(&c.Loops, "loops", 1, "event loops, a thread each")
	fs.DurationVar(&c.Warm, "warm", 500*time.Millisecond, "time before counting")
	fs.DurationVar(&c.For, "for", 3*time.Second, "time to count; hold: until ended")
	fs.BoolVar(&c.Sustain, "sustain", false, "open model: clients go on to come, uncounted, for the time of -drain, so that those counted have competition to the end")
	fs.DurationVar(&c.Drain, "drain", time.Second, "what is unanswered for so long at the end is overdue")
	fs.IntVar(&c.Total, "total", 0, "end after so many, instead of a time")
	fs.IntVar(&c.Rate, "rate", 5000, "closed model: the first connections are opened at this rate a second")
	fs.DurationVar(&c.ConnectTimeout, "connect-timeout", 5*time.Second, "give up a connect after this time")
	fs.DurationVar(&c.Late, "late", 0, "count what is served later than this; 0: nothing")
	fs.Uint64Var(&c.Seed, "seed", 1, "of all that is random")
}

func (c *Config) bindAddresses(fs *flag.FlagSet) {
	fs.TextVar(&c.Target, "target", c.Target, "`ADDRESS` and port to connect to")
	fs.TextVar(&c.Source, "source", c.Source, "first `ADDRESS` to connect from")
	fs.IntVar(&c.Sources, "sources", 1, "connect from so many addresses, from -source on, in turn; 0: the kernel's choice")
	fs.Func("watch", "`PIDS`, comma-separated, of processes whose CPU time to take too", c.setWatch)
}

func (c *Config) setWatch(list string) error {
	c.Watch = nil
	for word := range strings.SplitSeq(list, ",") {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q is not the number of a process", word)
		}
		c.Watch = append(c.Watch, pid)
	}
	return nil
}
