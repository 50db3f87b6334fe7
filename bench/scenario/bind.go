package scenario

import (
	"slices"
	"strings"
)

// Flags that whoever runs the scenario gives.
var (
	notServer = []string{"listen"}
	notClient = []string{"target", "warm", "for", "watch", "wait"}
)

// bind looks at the flags of a server.
func (s *Server) bind() error { return foreign(s.Args, notServer) }

// bind looks at the flags of a client.
func (c *Client) bind() error { return foreign(c.Args, notClient) }

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
