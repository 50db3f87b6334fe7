package ctl

import (
	"bytes"
	"encoding/json"
)

// What is shown of the interface's objects; package admin says what they are.
type (
	virtual struct {
		Name        string
		Listen      string
		Front       string
		Mode        string
		Pool        string
		Settings    settings
		Connections connections
		Refused     int64
		Bytes       traffic
		Connq       connq
		Persistence struct{ Records, Bytes int64 }
		outcomes
	}
	pool struct {
		Name              string
		Settings          settings
		State             string
		Reason            string
		EffectiveDepth    *int64
		ReleasesPerSecond *float64
		Connections       connections
		Bytes             traffic
		Connq             connq
		ConnqAll          connq
		Members           []member
		outcomes
	}
	member struct {
		Pool         string
		Address      string
		Settings     settings
		State        string
		Reason       string
		Connections  connections
		Bytes        traffic
		Connq        connq
		DialFailures int64
	}
	node struct {
		Address     string
		Settings    settings
		State       string
		Connections connections
		Bytes       traffic
		Members     []string
	}
	tapFront struct {
		Device     string
		Up         bool
		Settings   settings
		Virtuals   []string
		Handshakes struct {
			Parked, Proven, Limit, Begun, Repeated, Released, Accepted, TimedOut, Reset, Silent int64
			DroppedFull, DroppedShare, BadChecksum, ResetsIgnored                               int64
		}
		Cookies     struct{ Sent, Proven, Bad int64 }
		Frames      struct{ In, Out, Foreign, Bad, Dropped int64 }
		Bytes       struct{ In, Out int64 }
		Retransmits int64
		Forwarding  forwarding
		Servers     *serverLink // nil: they are on this device, too
	}
	forwarding struct {
		Connections, Lingering, Limit, Begun, Refused, Unanswered, NoRoute, PortsOut, TableFull int64
		Segments, Bytes                                                                         traffic
		PassedOn, PassDropped, Stray, TTLDropped, TooBig                                        int64
		ICMPTranslated, SpoofedResets, ResetProbes                                              int64
	}
	serverLink struct {
		Device   string
		Up       bool
		Settings settings
		Frames   struct{ In, Out, Dropped, Missed int64 }
		Bytes    struct{ In, Out int64 }
	}
	waiter struct {
		Position   int64
		Client     string
		Virtual    string
		Pool       string
		Queue      string
		AgeMs      float64
		ExpectedMs *float64
		Class      int64
		Tries      int64
	}
	waiterPage struct {
		Total   int64
		Skip    int64
		Waiters []waiter
	}
)

// Their parts.
type (
	connections struct{ Current, Maximum, Total, Limit int64 }
	traffic     struct{ Up, Down int64 }
	connq       struct {
		Depth, Serviced                         int64
		AgeHeadMs, AgeMaxMs, AgeEmaMs, AgeEdmMs float64
	}
	outcomes struct {
		Expired, Overflowed, Abandoned, Moved, Requeued, RefusedNoMember, Early, Shed, Flushed int64
	}
	setting  struct{ Key, Value string }
	settings []setting
)

// UnmarshalJSON keeps the order of the keys.
func (s *settings) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value string
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		*s = append(*s, setting{name, value})
	}
	return nil
}

// list is what happened on the device besides what its row has, for people.
func (t *tapFront) list() settings {
	h := &t.Handshakes
	return append(happened([]happening{
		{"SYNs repeated", h.Repeated}, {"reset by the client while parked", h.Reset},
		{"given up by the client while parked", h.Silent}, {"not completed after release", h.TimedOut},
		{"dropped, table full", h.DroppedFull}, {"dropped, share of the prefix used up", h.DroppedShare},
		{"dropped, wrong checksum", h.BadChecksum}, {"resets with wrong numbers", h.ResetsIgnored},
		{"cookies sent", t.Cookies.Sent}, {"cookies that came back", t.Cookies.Proven}, {"cookies that were wrong", t.Cookies.Bad},
		{"frames in", t.Frames.In}, {"frames out", t.Frames.Out}, {"frames not for us", t.Frames.Foreign},
		{"frames broken", t.Frames.Bad}, {"frames the device did not take", t.Frames.Dropped},
		{"segments sent again", t.Retransmits},
	}), t.Forwarding.list()...)
}

// list is what happened to what is forwarded.
func (f *forwarding) list() settings {
	return happened([]happening{
		{"SYNs forwarded", f.Begun}, {"refused by the server", f.Refused}, {"not answered by the server", f.Unanswered},
		{"without a way to the server", f.NoRoute}, {"without a port of an snat address", f.PortsOut}, {"without a record", f.TableFull},
		{"ended and remembered", f.Lingering},
		{"segments to servers", f.Segments.Up}, {"segments to clients", f.Segments.Down},
		{"bytes to servers", f.Bytes.Up}, {"bytes to clients", f.Bytes.Down},
		{"frames handed to their loop", f.PassedOn}, {"frames their loop had no room for", f.PassDropped},
		{"segments of no connection", f.Stray}, {"packets whose TTL ran out", f.TTLDropped}, {"packets too big", f.TooBig},
		{"ICMP errors passed on", f.ICMPTranslated}, {"resets outside of the window", f.SpoofedResets},
		{"servers asked about a reset", f.ResetProbes},
	})
}

// list is those that happened, for people.
func (o *outcomes) list() settings {
	return happened([]happening{
		{"expired", o.Expired}, {"overflowed", o.Overflowed}, {"abandoned", o.Abandoned}, {"moved", o.Moved},
		{"requeued", o.Requeued}, {"refused, no member", o.RefusedNoMember}, {"refused early", o.Early},
		{"shed", o.Shed}, {"flushed", o.Flushed},
	})
}

// happening is something that is counted.
type happening struct {
	name string
	n    int64
}

// happened leaves out what did not.
func happened(list []happening) (all settings) {
	for _, h := range list {
		if h.n > 0 {
			all = append(all, setting{h.name, count(h.n)})
		}
	}
	return all
}
