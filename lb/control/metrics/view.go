package metrics

import (
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
	"penstock/stack/tap"
)

// View is what there is to show: a *proxy.Proxy, its *dispatch.Dispatcher, and
// a little more. Any goroutine may call it at any time. Indices are those of
// the configuration; members are numbered pool by pool.
type View interface {
	Process
	Dispatcher
	Proxy
}

// Process is what the program knows of itself.
type Process interface {
	Config() *config.Config // in force now; nobody changes what it points to
	Now() dispatch.Tick     // in the time of the dispatcher's tickets
	Draining() bool
	// MonitorState is what a member's monitor found out, and since when it
	// says so. Kind is "none" for a member without one.
	MonitorState(member int) (kind string, up bool, reason string, since time.Time)
	// PoolPast and NodePast are what members counted that were removed, so
	// that totals don't go down.
	PoolPast(pool int) proxy.Totals
	NodePast(node int) proxy.Totals
}

// Dispatcher is the part of *dispatch.Dispatcher that is shown.
type Dispatcher interface {
	Virtual(dispatch.VirtualID) dispatch.Load
	Pool(dispatch.PoolID) dispatch.Load
	Member(dispatch.MemberID) dispatch.MemberView
	Node(dispatch.NodeID) dispatch.Load

	VirtualQueue(dispatch.VirtualID) *dispatch.QueueStats
	PoolQueue(dispatch.PoolID) *dispatch.QueueStats    // its own
	PoolQueueAll(dispatch.PoolID) *dispatch.QueueStats // its members' too
	MemberQueue(dispatch.MemberID) *dispatch.QueueStats

	Paused(dispatch.PoolID) bool
	// PoolRate is how many waiters a second are served; 0 not known.
	PoolRate(now dispatch.Tick, pool dispatch.PoolID) float64
	// Records are those of persistence, and the memory they take.
	Records(now dispatch.Tick, virtual dispatch.VirtualID) (n int, bytes int64)
}

// Proxy is the part of *proxy.Proxy that is shown.
type Proxy interface {
	VirtualTotals(v int) proxy.Totals
	MemberTotals(m int) proxy.Totals
	Budget() (used, most int)
	TapTotals() tap.Totals // of the TAP front end; zero if there is none
}
