package cases

import (
	"net/netip"
	"testing"
	"time"

	"penstock/bench/wire"
)

// ear hears what comes to a server on the device that servers are behind, before
// their kernel does anything about it.
type ear struct {
	t    testing.TB
	r    *wire.Receiver
	addr netip.AddrPort
}

// hear begins to listen.
func (l *link) hear(addr string) *ear {
	l.t.Helper()
	port, err := wire.Find(l.serversDevice())
	if err != nil {
		l.t.Fatal(err)
	}
	e := &ear{t: l.t, addr: netip.MustParseAddrPort(addr)}
	if e.r, err = wire.NewReceiver(port, wire.ToTCP(e.addr.Addr()), 1<<12); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(e.r.Close)
	return e
}

// next returns the next segment with one of some flags that comes to the server
// within a time, and when it came.
func (e *ear) next(flags byte, within time.Duration) (h wire.Heard, at time.Time, ok bool) {
	for end := time.Now().Add(within); ; e.r.Wait(time.Until(end)) {
		for {
			b, ns, more := e.r.Next()
			if !more {
				break
			}
			if h, ok = wire.Read(b); ok && h.To.AddrPort() == e.addr && h.Flags&flags != 0 {
				now := time.Now() // and its clock, which nobody sets
				return h, now.Add(time.Duration(ns - now.UnixNano())), true
			}
		}
		if !time.Now().Before(end) {
			return h, at, false
		}
	}
}

// silence says that no segment with any of some flags comes within a time.
func (e *ear) silence(flags byte, span time.Duration) {
	e.t.Helper()
	if h, _, ok := e.next(flags, span); ok {
		e.t.Errorf("heard %+v", h)
	}
}
