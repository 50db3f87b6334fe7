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

// haproxy is Debian's package, set up in one of several ways.
type haproxy struct {
	path string
	way  way
}

// way is how HAProxy is to move bytes.
type way struct {
	name             string
	global, defaults string // lines for these sections
}

// Bulk is done in all ways, since which is best depends on the machine, and
// the ratio is formed with each; everything else in the first, whose lines make
// no difference there.
//
//   - haproxy: as it is usually set. "splice-auto" chooses, and was seen (strace)
//     never to choose splice on loopback: it copies by 16 KiB.
//   - haproxy-splice: splice always, with pipes of 1 MiB: of the default 64 KiB,
//     256 KiB and 1 MiB the best (0.20, 0.09, 0.06 s/GB).
//   - haproxy-copy: buffers of 256 KiB. Larger ones gained with one flow and lost
//     with 16. They are the wrong choice for many connections: each has two
//     while bytes are in them.
var ways = []way{
	{"haproxy", "", "    option splice-auto\n"},
	{"haproxy-splice", "    tune.pipesize 1048576\n", "    option splice-response\n"},
	{"haproxy-copy", "    tune.bufsize 262144\n", ""},
}

// haproxyConfig is common to all ways:
//
//   - Two threads, as penstock has two loops.
//   - No log, no statistics, no checks: none of them is measured here.
//   - maxconn just above what is needed. Its tables are only touched as they are
//     used, so it does not show in the memory.
//   - no strict-limits: else it would not start when twice maxconn is above
//     RLIMIT_NOFILE, though a waiting client needs one descriptor and not two.
//   - Timeouts far away, so that nothing but the work ends a connection.
//
// Tried for short connections and left out, since they changed nothing beyond
// the noise: a listener for each thread ("shards by-thread"), tcp-smart-connect,
// tcp-smart-accept.
const haproxyConfig = `global
    nbthread 2
    maxconn %[1]d
    no strict-limits
%[2]sdefaults
    mode tcp
    maxconn %[1]d
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    timeout queue 1h
%[3]slisten relay
    bind %[4]s
    server s %[5]s maxconn %[6]d
`

func (h haproxy) Name() string { return h.way.name }

func (h haproxy) Command(s setup) ([]string, error) {
	text := fmt.Sprintf(haproxyConfig, s.connections+100, h.way.global, h.way.defaults, s.listen, s.server, s.limit)
	file := filepath.Join(s.dir, "haproxy.cfg")
	return []string{h.path, "-db", "-q", "-f", file}, os.WriteFile(file, []byte(text), 0o600)
}

// direct is no proxy.
type direct struct{}

func (direct) Name() string { return "direct" }

func (direct) Command(setup) ([]string, error) { return nil, nil }
