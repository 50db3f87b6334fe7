package admin

import (
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
)

// wired is how the program makes a View: what runs, and little beside it.
type wired struct {
	*proxy.Proxy
	*dispatch.Dispatcher
}

func (wired) Config() *config.Config { return nil }
func (wired) Now() dispatch.Tick     { return dispatch.Tick(kernel.Clock()) }
func (wired) Draining() bool         { return false }

func (wired) MonitorState(int) (kind string, up bool, reason string, since time.Time) {
	return "none", true, "", since
}

func (wired) PoolPast(int) (t proxy.Totals) { return t }
func (wired) NodePast(int) (t proxy.Totals) { return t }

var _ View = wired{}
