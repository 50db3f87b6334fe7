package scenario

import (
	"flag"
	"io"
	"net/netip"
	"slices"
	"strings"

	"penstock/bench/client"
	"penstock/bench/server"
	"penstock/bench/syn"
)

// Flags that whoever runs the scenario gives.
var (
	notServer  = []string{"listen"}
	notReflect = []string{"device", "listen", "text"}
	notClient  = []string{"target", "warm", "for", "watch", "wait"}
	notSyn     = []string{"device", "target", "warm", "for", "wait", "text", "sink"}
)

// bind reads the flags of a server.
func (s *Server) bind() error {
	if s.Reflect != nil {
		return s.bindReflect()
	}
	var c server.Config
	if err := parse(c.Bind, s.Args, notServer); err != nil {
		return err
	}
	s.Config = c
	return c.Check()
}

// bindReflect reads the flags of a reflector.
func (s *Server) bindReflect() error {
	r := s.Reflect
	if err := parse(r.Bind, s.Args, notReflect); err != nil {
		return err
	}
	s.Config = server.Config{Then: server.Stay, Limit: r.Limit, Request: r.Request, Response: r.Response}
	return r.Check()
}

// bind reads the flags of a client. Source is left empty if they don't say it:
// each process is given one when the scenario runs.
func (c *Client) bind() error {
	if c.Syn != nil {
		return c.bindSyn()
	}
	if err := parse(c.Config.Bind, c.Args, notClient); err != nil {
		return err
	}
	checked := c.Config
	if !checked.Source.IsValid() {
		checked.Source = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return checked.Check()
}

// bindSyn reads the flags of a generator.
func (c *Client) bindSyn() error {
	if err := parse(c.Syn.Bind, c.Args, notSyn); err != nil {
		return err
	}
	s := c.Syn
	c.Config = client.Config{Work: client.Short, Request: s.Request, Response: s.Response, Drain: s.Drain, Rate: s.Rate}
	switch s.Work {
	case syn.Hold:
		c.Config.Work = client.Hold
	case syn.Keep:
		c.Config.Work = client.Keep
	}
	if s.Work != syn.Flood {
		c.Config.Flows = s.Flows
	}
	return s.Check()
}

// parse reads flags that bind makes, all but those in not.
func parse(bind func(*flag.FlagSet), args, not []string) error {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	bind(fs)
	if err := foreign(args, not); err != nil {
		return err
	}
	if err := fs.Parse(args); err != nil {
		return wrong(strings.Join(args, " "), err.Error())
	}
	if fs.NArg() > 0 {
		return wrong(fs.Arg(0), "must be a flag: its value stands in quotes if there is a blank in it")
	}
	return nil
}

// foreign finds flags that have no place in a scenario.
func foreign(args, not []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && slices.Contains(not, name) {
			return wrong(arg, "is not for a scenario: it is set when that runs")
		}
	}
	return nil
}
