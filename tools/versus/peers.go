package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
)

// setup is what a proxy is to be set up for.
type setup struct {
	dir            string // for its files
	listen, server netip.AddrPort
	limit          int // connections to the server at a time; 0 is none
	connections    int // clients at a time, at most
}

// peer is one proxy, or one way to set it up.
type peer interface {
	Name() string

	// Command writes what files are needed and returns the command that runs
	// the proxy in the foreground. None: clients connect to the server.
	Command(s setup) (argv []string, err error)
}

// penstock runs as many loops as HAProxy runs threads.
type penstock struct{ path string }

func (penstock) Name() string { return "penstock" }

func (p penstock) Command(s setup) ([]string, error) {
	member := s.server.String()
	if s.limit > 0 {
		member += ",connection-limit=" + strconv.Itoa(s.limit)
	}
	return []string{p.path, "run", "-admin", "off", "-loops", "2",
		"-listen", s.listen.String(), "-member", member,
		"-pool", "default,queue-depth-cap=none,queue-time-limit=0"}, nil
}

// haproxy is Debian's package. It forwards bulk by splice or by copying, and
// which is better depends on the machine; for bulk work both run.
type haproxy struct {
	path    string
	copying bool
}

func (h haproxy) Name() string {
	if h.copying {
		return "haproxy-copy"
	}
	return "haproxy"
}

// haproxyConfig is what serves this work best; each line was measured against
// its absence.
//
//   - Two threads, as the machine has cores and penstock has loops. One listener
//     for both: with one each ("shards by-thread") short connections cost the same.
//   - No log, no statistics, no checks: none of them is penstock's work here.
//   - maxconn sizes its tables, which are touched as they are used; a fixed
//     number for all work, so that the memory is that of the default build.
//   - no strict-limits: it would refuse to start when twice maxconn is above
//     RLIMIT_NOFILE, though a waiting client needs one descriptor and not two.
//   - Timeouts far away, so that nothing but the work ends a connection.
const haproxyConfig = `global
    nbthread 2
    maxconn %[1]d
    no strict-limits
defaults
    mode tcp
    maxconn %[1]d
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    timeout queue 1h
%[2]slisten relay
    bind %[3]s
    server s %[4]s maxconn %[5]d
`

func (h haproxy) Command(s setup) ([]string, error) {
	options := ""
	if !h.copying {
		options = "    option splice-auto\n"
	}
	text := fmt.Sprintf(haproxyConfig, s.connections+100, options, s.listen, s.server, s.limit)
	file := filepath.Join(s.dir, "haproxy.cfg")
	return []string{h.path, "-db", "-q", "-f", file}, os.WriteFile(file, []byte(text), 0o600)
}

// direct is no proxy.
type direct struct{}

func (direct) Name() string { return "direct" }

func (direct) Command(setup) ([]string, error) { return nil, nil }
