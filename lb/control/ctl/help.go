package ctl

import (
	"fmt"
	"io"
	"strings"
)

const helpHead = `Asks and changes a proxy that runs.

`

const helpTail = `
  -admin ADDR       where the proxy's admin interface listens: unix:PATH or
                    IP:PORT (default: where it listens by default)
  -token-file FILE  the proxy's token, for an interface that asks for one
  -o text|json      tables for people, or what the proxy said

Examples
  penstock ctl show
  penstock ctl show waiters client=10.0.0.0/8 older=2s
  penstock ctl set pool app queue-time-limit=20s
  penstock ctl set member app/[::1]:80 connection-limit=200
  penstock ctl add member app/10.0.0.3:80 connection-limit=100
  penstock ctl flush pool app older=30s

penstock ctl help COMMAND says more. Exit status 1: the proxy refused, or is
not to be reached; 2: a mistake in the command line.
`

// help shows how one command is used, or all (nil).
func help(w io.Writer, c *command) {
	if c != nil {
		fmt.Fprintf(w, "%s\n%s\n", c.usage(), c.help)
		return
	}
	var b strings.Builder
	b.WriteString(helpHead)
	for i := range commands {
		b.WriteString(commands[i].usage())
	}
	b.WriteString(helpTail)
	io.WriteString(w, b.String())
}

// usage is a line for each form.
func (c *command) usage() string {
	var b strings.Builder
	for _, f := range c.forms {
		fmt.Fprintf(&b, "  penstock ctl %s %s\n", c.name, f)
	}
	return b.String()
}
