package admin

import (
	"penstock/lb/control/metrics"
	"penstock/stack/kernel"
)

// View is what there is to show. Any goroutine may call it at any time.
type View interface {
	metrics.View
	Listening(v int) kernel.Address // where a virtual server listens, its port chosen
}
