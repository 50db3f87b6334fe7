package term

import (
	"slices"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// orphans are connections that were closed with something still to deliver.
// Netstack's own timeouts would end them, but each segment from the client
// starts those anew while its window is shut, and a client could have its buffer
// kept for ever.
type orphans struct {
	most   time.Duration // that one may last; constant
	list   []orphan
	looked tcpip.MonotonicTime
}

type orphan struct {
	ep    *tcp.Endpoint
	since tcpip.MonotonicTime
}

// lookEvery is how often they are looked at, all of them. Nearly all are
// through by the first time.
const lookEvery = 500 * time.Millisecond

func (o *orphans) add(ep *tcp.Endpoint, now tcpip.MonotonicTime) {
	if delivering(ep) {
		o.list = append(o.list, orphan{ep, now})
	}
}

// delivering says whether an endpoint still has something for the client. What
// comes after that netstack bounds well.
func delivering(ep *tcp.Endpoint) bool {
	switch ep.EndpointState() {
	case tcp.StateFinWait1, tcp.StateClosing, tcp.StateLastAck:
		return true
	}
	return false
}

// Delivering says whether a connection that was closed still has something for its
// client, which is lost with the Stack.
func (s *Stack) Delivering() bool {
	return slices.ContainsFunc(s.orphans.list, func(x orphan) bool { return delivering(x.ep) })
}

// Abandon resets those connections.
func (s *Stack) Abandon() {
	for _, x := range s.orphans.list {
		if delivering(x.ep) {
			x.ep.Abort()
		}
	}
}

// sweep forgets those that are through, and resets those that take too long.
func (o *orphans) sweep(now tcpip.MonotonicTime) {
	if now.Sub(o.looked) < lookEvery {
		return
	}
	o.looked = now
	kept := o.list[:0]
	for _, x := range o.list {
		switch {
		case !delivering(x.ep):
		case now.Sub(x.since) >= o.most:
			x.ep.Abort()
		default:
			kept = append(kept, x)
		}
	}
	clear(o.list[len(kept):])
	o.list = kept
}
