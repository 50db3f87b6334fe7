package peer

import (
	"fmt"
	"strings"
	"syscall"
)

// haproxy is one of several ways to set HAProxy up:
//
//   - A thread for each loop of penstock.
//   - No log, no statistics, no checks: none of them is measured. Checks are
//     connections that a server can't tell from ghosts, and above its limit.
//   - maxconn just above what is needed. Its tables are only touched as they are
//     used, so it does not show in the memory.
//   - no strict-limits: else it would not start when twice maxconn is above
//     RLIMIT_NOFILE, though a waiting client needs one descriptor and not two.
//   - Timeouts far away, so that nothing but the work ends a connection.
//   - option redispatch 1: who is refused by a server gets another at once. The
//     default is to ask the same one three times, a second apart, and give up.
//
// Tried for short connections and left out, since they changed nothing beyond
// the noise: a listener for each thread ("shards by-thread"), tcp-smart-connect,
// tcp-smart-accept.
//
// Where it is told to reload it runs as master and worker: the new worker gets
// the listening sockets from the old one, which serves its clients to the end.
type haproxy struct {
	path string
	way  way
}

// way is how HAProxy is to move bytes.
type way struct {
	name             string
	global, defaults []string // lines for these sections
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
	{"haproxy", nil, []string{"option splice-auto"}},
	{"haproxy-splice", []string{"tune.pipesize 1048576"}, []string{"option splice-request", "option splice-response"}},
	{"haproxy-copy", []string{"tune.bufsize 262144"}, nil},
}

func (h haproxy) Name() string { return h.way.name }

func (h haproxy) Command(s Setup) ([]string, error) {
	text, err := h.config(s)
	if err != nil {
		return nil, err
	}
	file, err := place(s, "haproxy.cfg", text)
	if s.Reloads {
		return []string{h.path, "-W", "-q", "-f", file}, err
	}
	return []string{h.path, "-db", "-q", "-f", file}, err
}

// Reload is for a process with Setup.Reloads: others end at the signal.
func (h haproxy) Reload(s Setup, pid int) error {
	if _, err := h.Command(s); err != nil {
		return err
	}
	return tell(pid, syscall.SIGUSR2)
}

func (h haproxy) Check(s Setup) []string {
	return []string{h.path, "-c", "-f", s.Dir + "/haproxy.cfg"}
}

func (h haproxy) Version() string { return version(h.path, "-v") }

func (h haproxy) config(s Setup) (string, error) {
	more, err := sections("haproxy", s.More, "global", "defaults", "listen", "server")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	section := func(head string, lines ...[]string) {
		b.WriteString(head + "\n")
		for _, list := range lines {
			for _, l := range list {
				b.WriteString("    " + l + "\n")
			}
		}
	}
	maxconn := fmt.Sprintf("maxconn %d", s.Connections+100)
	section("global", []string{fmt.Sprintf("nbthread %d", s.Loops), maxconn, "no strict-limits"}, h.way.global, more["global"])
	section("defaults", []string{
		"mode tcp", maxconn, "option redispatch 1",
		"timeout connect 5s", "timeout client 1h", "timeout server 1h", "timeout queue 1h",
	}, h.way.defaults, more["defaults"])
	section("listen relay", []string{"bind " + s.Listen.String()}, more["listen"])
	for i, m := range s.Members {
		words := append([]string{fmt.Sprintf("server s%d %s maxconn %d", i+1, m.Address, m.Limit)}, more["server"]...)
		section("    " + strings.Join(words, " "))
	}
	return b.String(), nil
}
