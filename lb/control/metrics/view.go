package metrics

import (
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
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
}

// Dispatcher is the part of *dispatch.Dispatcher that is shown.
type Dispatcher interface {
	Virtual(dispatch.VirtualID) dispatch.Load
	Pool(dispatch.PoolID) dispatch.Load
	PoolStats(dispatch.PoolID) *dispatch.PoolStats
	Member(dispatch.MemberID) dispatch.MemberView
	Node(dispatch.NodeID) dispatch.Load
}

// Proxy is the part of *proxy.Proxy that is shown.
type Proxy interface {
	VirtualTotals(v int) proxy.Totals
	MemberTotals(m int) proxy.Totals
	Budget() (used, most int)
}
