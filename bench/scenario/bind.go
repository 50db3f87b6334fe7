package scenario

import (
	"flag"
	"io"
	"net/netip"
	"slices"
	"strings"

	"penstock/bench/server"
)

// Flags that whoever runs the scenario gives.
var (
	notServer = []string{"listen"}
	notClient = []string{"target", "warm", "for", "watch", "wait"}
)

// bind reads the flags of a server.
func (s *Server) bind() error {
	var c server.Config
	if err := parse(c.Bind, s.Args, notServer); err != nil {
		return err
	}
	s.Config = c
	return c.Check()
}

// bind reads the flags of a client. Source is left empty if they don't say it:
// each process is given one when the scenario runs.
func (c *Client) bind() error {
	if err := parse(c.Config.Bind, c.Args, notClient); err != nil {
		return err
	}
	checked := c.Config
	if !checked.Source.IsValid() {
		checked.Source = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return checked.Check()
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
