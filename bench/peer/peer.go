package peer

import (
	"errors"
	"net/netip"
)

// Setup is what a proxy is to be set up for.
type Setup struct {
	Dir         string         // for its files; there already, and this proxy's alone
	Listen      netip.AddrPort // where clients connect to
	Members     []Member       // the servers
	Connections int            // clients at a time, at most
	Loops       int            // loops, threads or workers; at least 1
	Reloads     bool           // Reload will be called
	More        []string       // a scenario's lines for this program
}

// Member is a server, with how many connections it may get at a time; 0 is no
// limit.
type Member struct {
	Address netip.AddrPort
	Limit   int
}

// Peer is one proxy, or one way to set it up. It holds no state.
type Peer interface {
	Name() string

	// Command writes the files that are needed and returns the command that
	// runs the proxy in the foreground, until SIGTERM. None: clients connect to
	// the first member.
	Command(s Setup) (argv []string, err error)

	// Reload writes the files anew and tells the process that runs them. It
	// does not wait for the change to be in force.
	Reload(s Setup, pid int) error

	// Version is what the program calls itself, or why that is not known.
	Version() string
}

// Paths are the programs. A name without a slash is looked up in PATH.
type Paths struct{ Penstock, HAProxy, Nginx string }

// Find returns the peer of a name; see Names.
func Find(name string, paths Paths) (Peer, error) {
	return nil, errors.New("not yet")
}

// Names are the peers there are.
func Names() []string { return nil }
