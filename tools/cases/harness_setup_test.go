package cases

import (
	"strconv"
	"strings"
)

// base is what every test starts from. A setup adds to it. Nobody expires while the
// test waits for others to be missed, on a machine that stalls: see leaving.
const (
	baseVirtual = "listen=127.0.0.1:0,pool=p"
	basePool    = "queue-depth-cap=none,queue-time-limit=30s,reselect-tries=0,slow-ramp-time=0,monitor=none"
	baseLoops   = 4
)

// setup says how penstock is started. Keys given replace those of the base.
type setup struct {
	virtual, pool string   // KEY=VALUE,...
	members       []string // ADDR,KEY=VALUE,...; see server.limit
	loops         int      // 0: that of the base
	flags         []string // more flags
	files         int      // RLIMIT_NOFILE; 0: ours
	admin         string   // its admin address; "": a socket, see api
	grumbles      bool     // it has reason to log errors
	file          bool     // the objects stand in a flag file; see filed
	link          *link    // the device, over TAP; nil: one of its own
	tap           string   // more keys of it
}

// args returns the command line, without the command.
func (s setup) args() []string {
	loops := s.loops
	if loops == 0 {
		loops = baseLoops
	}
	args := []string{"-loops", strconv.Itoa(loops)}
	if s.file {
		return append(args, s.flags...)
	}
	args = append(args,
		"-virtual", "v,"+merge(baseVirtual, s.virtual),
		"-pool", "p,"+merge(basePool, s.pool),
	)
	for _, m := range s.members {
		args = append(args, "-member", m+",pool=p")
	}
	return append(args, s.flags...)
}

// merge returns the keys of both, those of over in place of base's.
func merge(base, over string) string {
	var keys []string
	for _, kv := range strings.Split(base, ",") {
		key, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(over, key+"=") && !strings.Contains(over, ","+key+"=") {
			keys = append(keys, kv)
		}
	}
	if over != "" {
		keys = append(keys, over)
	}
	return strings.Join(keys, ",")
}
