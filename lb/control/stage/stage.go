package stage

import (
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
	"penstock/stack/tap"
)

// Stage is an admin.View and an admin.Control. Any goroutine may use it.
type Stage struct {
	*dispatch.Dispatcher
	config atomic.Pointer[config.Config]
	now    atomic.Int64

	// Before, if set, is called by Apply before it looks what is in force.
	Before func()

	mu        sync.Mutex // whatever the dispatcher wants to be called by one alone
	clients   map[uint32]netip.AddrPort
	connected []client
	parked    []client
	last      uint32
	verdicts  map[int]verdict
	draining  atomic.Bool
}

var (
	_ admin.View    = (*Stage)(nil)
	_ admin.Control = (*Stage)(nil)
)

// client is one that is served or waits.
type client struct {
	path   dispatch.Path
	waiter dispatch.Waiter
	a      dispatch.Attempt
	id     uint32
}

// verdict is a monitor's.
type verdict struct {
	up     bool
	reason string
	since  time.Time
}

// start is far enough from 0, which is no time.
const start = time.Hour

// New returns a stage with nobody on it.
func New(flags []string) (*Stage, error) {
	c, err := config.Parse(flags, config.Env{
		ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
	})
	if err != nil {
		return nil, err
	}
	s := &Stage{
		Dispatcher: dispatch.New(topology(c), func(int) {}),
		clients:    map[uint32]netip.AddrPort{}, verdicts: map[int]verdict{},
	}
	s.config.Store(c)
	s.now.Store(int64(start))
	return s, nil
}

// Config is what is in force.
func (s *Stage) Config() *config.Config { return s.config.Load() }

// Now is the time on stage.
func (s *Stage) Now() dispatch.Tick { return dispatch.Tick(s.now.Load()) }

// Drain makes it draining.
func (s *Stage) Drain() { s.draining.Store(true) }

// Draining says whether Drain was called.
func (s *Stage) Draining() bool { return s.draining.Load() }

// Budget is made up.
func (s *Stage) Budget() (used, most int) { return 12, 1000 }

// Listening is where the configuration says.
func (s *Stage) Listening(id int) (a kernel.Address) {
	c := s.Config()
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.ID == id {
			a = kernel.Address{AddrPort: v.Listen, Dual: v.Dual}
		}
	}
	return a
}

// TapTotals is made up: a number for each.
func (s *Stage) TapTotals() tap.Totals {
	return tap.Totals{
		FramesIn: 1001, BytesIn: 100200, FramesOut: 1003, BytesOut: 100400, OutDrops: 5,
		Syns: 106, SynRepeats: 207, SynResets: 8, SynSilent: 9, SynDropsFull: 10, SynDropsShare: 11, SynBadChecksum: 12,
		ResetsIgnored: 13, CookiesSent: 114, CookiesProven: 95, CookiesBad: 16, Released: 97, Accepted: 98,
		HandshakeTimeouts: 19, Foreign: 20, BadFrames: 21, Retransmits: 22, Missed: 23, Fragments: 24,
		Parked: 23, Proven: 4, DeviceUp: !s.Draining(),
		Flows: 2025, Lingering: 26, Forwarded: s.forwarded(), SegmentsUp: 3001, SegmentsDown: 3002, BytesUp: 300300, BytesDown: 300400,
		PassedOn: 33, PassDrops: 34, PortsOut: 35, FlowsFull: 36, NoRoute: 37, Unanswered: 38, Refusals: 39, Stray: 40,
		TTLDrops: 41, TooBig: 42, ICMPTranslated: 43, SpoofedResets: 44, ResetProbes: 45,
		Servers: tap.LinkTotals{FramesIn: 4001, BytesIn: 400200, FramesOut: 4003, BytesOut: 400400, OutDrops: 46, Missed: 47, Up: !s.Draining()},
	}
}

// forwarded is 0 where nothing is.
func (s *Stage) forwarded() uint64 {
	if s.Config().Forwards() {
		return 5026
	}
	return 0
}

// VirtualTotals is made up, of the number.
func (s *Stage) VirtualTotals(v int) proxy.Totals {
	n := uint64(v)
	return proxy.Totals{Connections: 100 + n, Refused: 10 + n, BadHeaders: n, BytesUp: 1000 + n, BytesDown: 2000 + n, Open: int64(30 + v)}
}

// MemberTotals is made up, of the number.
func (s *Stage) MemberTotals(m int) proxy.Totals {
	n := uint64(m)
	return proxy.Totals{Connections: 1 + n, BytesUp: 10 + n, BytesDown: 20 + n}
}

// PoolPast is made up: a hundred connections of members that were removed.
func (s *Stage) PoolPast(int) proxy.Totals { return proxy.Totals{Connections: 100} }

// NodePast is made up: a thousand.
func (s *Stage) NodePast(int) proxy.Totals { return proxy.Totals{Connections: 1000} }

// MonitorState is what Monitor said last.
func (s *Stage) MonitorState(member int) (kind string, up bool, reason string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Config()
	for i := range c.Pools {
		for j := range c.Pools[i].Members {
			if c.Pools[i].Members[j].ID != member {
				continue
			}
			v, ok := s.verdicts[member]
			if !ok {
				v = verdict{up: true, reason: "not checked yet"}
			}
			return c.Pools[i].Monitor.String(), v.up, v.reason, v.since
		}
	}
	return "none", true, "", since
}
