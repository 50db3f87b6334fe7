package admin

import (
	"net/http"

	"penstock/lb/control/config"
)

// The TAP front end. Its numbers are those of all loops together.
type (
	tapFront struct {
		Device      string     `json:"device"`
		Up          bool       `json:"up"`
		Settings    settings   `json:"settings"`
		Virtuals    []string   `json:"virtuals"` // on it
		Handshakes  handshakes `json:"handshakes"`
		Cookies     cookies    `json:"cookies"`
		Frames      frames     `json:"frames"`
		Bytes       inOut      `json:"bytes"`
		Retransmits uint64     `json:"retransmits"`

		Forwarding *forwarding `json:"forwarding"` // null: no connections are
		Servers    *serverLink `json:"servers"`    // null: they are on this device, too
	}
	handshakes struct {
		Parked        int64  `json:"parked"`
		Proven        int64  `json:"proven"` // of those parked
		Limit         int64  `json:"limit"`
		Begun         uint64 `json:"begun"`
		Repeated      uint64 `json:"repeated"` // SYNs of those that had begun
		Released      uint64 `json:"released"`
		Accepted      uint64 `json:"accepted"`
		TimedOut      uint64 `json:"timedOut"` // after their release
		Reset         uint64 `json:"reset"`    // by their client, while parked
		Silent        uint64 `json:"silent"`   // given up by their client, while parked
		DroppedFull   uint64 `json:"droppedFull"`
		DroppedShare  uint64 `json:"droppedShare"`
		BadChecksum   uint64 `json:"badChecksum"`
		ResetsIgnored uint64 `json:"resetsIgnored"`
	}
	cookies struct {
		Sent   uint64 `json:"sent"`
		Proven uint64 `json:"proven"`
		Bad    uint64 `json:"bad"`
	}
	frames struct {
		inOut
		Foreign uint64 `json:"foreign"`
		Bad     uint64 `json:"bad"`
		Dropped uint64 `json:"dropped"` // that the device did not take
		Missed  uint64 `json:"missed"`  // that the kernel dropped since a queue was full
		Pieces  uint64 `json:"pieces"`  // of datagrams, which several loops can't put together
	}
	inOut struct {
		In  uint64 `json:"in"`
		Out uint64 `json:"out"`
	}
)

func (a api) tap(w http.ResponseWriter, _ *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		if r.c.Tap == nil {
			return nil, &refusal{code: http.StatusNotFound, Text: "no TAP device: -tap was not given"}
		}
		return r.tap(), nil
	})
}

func (r *reader) tap() tapFront {
	t := r.view.TapTotals()
	o := tapFront{
		Device: r.c.Tap.Device, Up: t.DeviceUp, Settings: r.c.Tap.Settings(), Virtuals: []string{},
		Handshakes: handshakes{
			Parked: t.Parked, Proven: t.Proven, Limit: r.c.Handshakes(),
			Begun: t.Syns, Repeated: t.SynRepeats, Released: t.Released, Accepted: t.Accepted, TimedOut: t.HandshakeTimeouts,
			Reset: t.SynResets, Silent: t.SynSilent,
			DroppedFull: t.SynDropsFull, DroppedShare: t.SynDropsShare, BadChecksum: t.SynBadChecksum,
			ResetsIgnored: t.ResetsIgnored,
		},
		Cookies:     cookies{t.CookiesSent, t.CookiesProven, t.CookiesBad},
		Frames:      frames{inOut{t.FramesIn, t.FramesOut}, t.Foreign, t.BadFrames, t.OutDrops, t.Missed, t.Fragments},
		Bytes:       inOut{t.BytesIn, t.BytesOut},
		Retransmits: t.Retransmits,
		Forwarding:  r.forwarding(&t), Servers: r.serverLink(&t.Servers),
	}
	for i := range r.c.Virtuals {
		if v := &r.c.Virtuals[i]; v.Front == config.FrontTap {
			o.Virtuals = append(o.Virtuals, v.Name)
		}
	}
	return o
}
