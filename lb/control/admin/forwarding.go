package admin

import "penstock/stack/tap"

// What is forwarded between clients and servers, of all loops together.
type (
	forwarding struct {
		Connections    int64   `json:"connections"` // that hold a slot
		Lingering      int64   `json:"lingering"`   // ended, and remembered for a while
		Limit          int64   `json:"limit"`       // of both
		Begun          uint64  `json:"begun"`       // SYNs sent to servers
		Refused        uint64  `json:"refused"`     // by the server
		Unanswered     uint64  `json:"unanswered"`
		NoRoute        uint64  `json:"noRoute"`   // no way to the server
		PortsOut       uint64  `json:"portsOut"`  // no port of an SNAT address left
		TableFull      uint64  `json:"tableFull"` // no record left
		Segments       traffic `json:"segments"`
		Bytes          traffic `json:"bytes"`          // of payload
		PassedOn       uint64  `json:"passedOn"`       // frames that another loop owned
		PassDropped    uint64  `json:"passDropped"`    // ... and had no room for
		Stray          uint64  `json:"stray"`          // segments of no connection, which were reset
		TTLDropped     uint64  `json:"ttlDropped"`     // had gone through too many routers
		TooBig         uint64  `json:"tooBig"`         // for the MTU of the other side
		ICMPTranslated uint64  `json:"icmpTranslated"` // errors passed on
		SpoofedResets  uint64  `json:"spoofedResets"`  // outside of the window: they end nothing
		ResetProbes    uint64  `json:"resetProbes"`    // asked a server whether it took a client's reset
	}
	serverLink struct {
		Device   string     `json:"device"`
		Up       bool       `json:"up"`
		Settings settings   `json:"settings"`
		Frames   linkFrames `json:"frames"`
		Bytes    inOut      `json:"bytes"`
	}
	linkFrames struct {
		inOut
		Dropped uint64 `json:"dropped"` // that the device did not take
		Missed  uint64 `json:"missed"`  // that the kernel dropped since a queue was full
	}
)

// forwarding shows what goes on after the last virtual server that began it is
// gone, too.
func (r *reader) forwarding(t *tap.Totals) *forwarding {
	if !r.c.Forwards() && t.Forwarded == 0 {
		return nil
	}
	return &forwarding{
		Connections: t.Flows, Lingering: t.Lingering, Limit: r.c.Flows(),
		Begun: t.Forwarded, Refused: t.Refusals, Unanswered: t.Unanswered, NoRoute: t.NoRoute,
		PortsOut: t.PortsOut, TableFull: t.FlowsFull,
		Segments: traffic{t.SegmentsUp, t.SegmentsDown}, Bytes: traffic{t.BytesUp, t.BytesDown},
		PassedOn: t.PassedOn, PassDropped: t.PassDrops, Stray: t.Stray, TTLDropped: t.TTLDrops, TooBig: t.TooBig,
		ICMPTranslated: t.ICMPTranslated, SpoofedResets: t.SpoofedResets, ResetProbes: t.ResetProbes,
	}
}

func (r *reader) serverLink(t *tap.LinkTotals) *serverLink {
	s := r.c.ServerTap
	if s == nil {
		return nil
	}
	return &serverLink{
		Device: s.Device, Up: t.Up, Settings: s.Settings(),
		Frames: linkFrames{inOut{t.FramesIn, t.FramesOut}, t.OutDrops, t.Missed}, Bytes: inOut{t.BytesIn, t.BytesOut},
	}
}
