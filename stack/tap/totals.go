package tap

import (
	"sync/atomic"

	"penstock/stack/tap/device"
	"penstock/stack/tap/track"
)

// counts are what a port has seen. Written by its loop, read by anyone.
type counts struct {
	syns, repeats, resets, silent atomic.Uint64
	full, share, ignored          atomic.Uint64
	released, accepted, timeouts  atomic.Uint64
	foreign, bad, sums, fragments atomic.Uint64
	cookies, proven, unproven     atomic.Uint64
	parkedNow, provenNow          atomic.Int64

	forwarded, portsOut, flowsFull, noRoute  atomic.Uint64
	unanswered, refusals, stray, resetProbes atomic.Uint64
	ttl, tooBig, translated, spoofed         atomic.Uint64
	passedOn, passDrops                      atomic.Uint64
	segments, bytes                          [2]atomic.Uint64 // by track.Side
	flows, lingering                         atomic.Int64
}

// now notes how many records there are, when one of that kind came or went.
func (c *counts) now(n int, mark uint8, by int64) {
	c.parkedNow.Store(int64(n))
	if mark&proven != 0 {
		c.provenNow.Add(by)
	}
}

// carried notes a segment that was passed on, or several in one frame.
func (c *counts) carried(from track.Side, payload int) {
	c.segments[from].Add(1)
	c.bytes[from].Add(uint64(payload))
}

// Totals is what the ports of all loops have seen, and what there is now.
type Totals struct {
	FramesIn, BytesIn   uint64 // from the device
	FramesOut, BytesOut uint64
	OutDrops            uint64 // frames that the device did not take
	Missed              uint64 // frames that the kernel dropped since a queue was full

	Syns              uint64 // new handshakes
	SynRepeats        uint64 // SYNs of handshakes that were known
	SynResets         uint64 // handshakes that their client reset
	SynSilent         uint64 // ... or gave up without a word
	SynDropsFull      uint64 // SYNs for which there was no record
	SynDropsShare     uint64 // SYNs of a prefix that had its share of the queue
	SynBadChecksum    uint64
	ResetsIgnored     uint64 // with numbers that the client would not have sent
	CookiesSent       uint64
	CookiesProven     uint64 // clients that answered with one
	CookiesBad        uint64 // segments that looked like it, and were wrong
	Released          uint64 // handshakes that got a slot
	Accepted          uint64 // ... and were completed
	HandshakeTimeouts uint64 // ... and were not, in time
	Foreign           uint64 // frames that were not for us
	BadFrames         uint64 // ... that were broken
	Fragments         uint64 // pieces of datagrams, which several loops can't put together
	Retransmits       uint64 // segments that netstack sent again

	Parked, Proven int64 // handshakes that wait now; those of them that proved themselves
	DeviceUp       bool

	Flows                    int64  // forwarded connections that hold a slot now
	Lingering                int64  // ... that have ended, and are remembered for what is sent again
	Forwarded                uint64 // SYNs of released clients that went to a server
	SegmentsUp, SegmentsDown uint64 // passed on to servers, to clients; a frame with many counts once
	BytesUp, BytesDown       uint64 // payload of these
	PassedOn                 uint64 // frames that came to another loop than their connection's, and were handed over
	PassDrops                uint64 // ... and were not, for want of room
	PortsOut                 uint64 // SYNs that had no port of an SNAT address left, or whose own was in use at the server
	FlowsFull                uint64 // ... no record of a connection left
	NoRoute                  uint64 // ... no way to their server, or none that answered
	Unanswered               uint64 // servers that said nothing to a SYN in time
	Refusals                 uint64 // ... that answered one with a reset, or somebody did with an ICMP error
	Stray                    uint64 // segments of no connection, which were reset
	TTLDrops                 uint64 // packets that had gone through too many routers
	TooBig                   uint64 // packets that did not fit the MTU of the other side, whose sender was told
	ICMPTranslated           uint64 // ICMP errors about forwarded connections, passed on
	SpoofedResets            uint64 // resets outside of the window, which end nothing
	ResetProbes              uint64 // segments that ask a server whether it took a client's reset

	Servers LinkTotals // the device that only servers are behind; zero if there is none
}

// LinkTotals is what a device has carried, and how it is.
type LinkTotals struct {
	FramesIn, BytesIn   uint64 // from the device
	FramesOut, BytesOut uint64
	OutDrops            uint64 // frames that the device did not take
	Missed              uint64 // frames that the kernel dropped since a queue was full
	Up                  bool
}

// Add adds what this port has seen. Any goroutine.
func (p *Port) Add(t *Totals) {
	q := p.queue.Counts()
	t.FramesIn += q.InFrames
	t.BytesIn += q.InBytes
	t.FramesOut += q.OutFrames
	t.BytesOut += q.OutBytes
	t.OutDrops += q.DroppedDown + q.DroppedGone + q.DroppedMemory + q.DroppedInvalid
	c := &p.counts
	t.Syns += c.syns.Load()
	t.SynRepeats += c.repeats.Load()
	t.SynResets += c.resets.Load()
	t.SynSilent += c.silent.Load()
	t.SynDropsFull += c.full.Load()
	t.SynDropsShare += c.share.Load()
	t.SynBadChecksum += c.sums.Load()
	t.ResetsIgnored += c.ignored.Load()
	t.CookiesSent += c.cookies.Load()
	t.CookiesProven += c.proven.Load()
	t.CookiesBad += c.unproven.Load()
	t.Released += c.released.Load()
	t.Accepted += c.accepted.Load()
	t.HandshakeTimeouts += c.timeouts.Load()
	t.Foreign += c.foreign.Load()
	t.BadFrames += c.bad.Load()
	t.Fragments += c.fragments.Load()
	t.Retransmits += p.net.Stats().Retransmits
	t.Parked += c.parkedNow.Load()
	t.Proven += c.provenNow.Load()
	t.DeviceUp = p.device.State() == device.Up
	p.fwd.total(t)
}

// total adds what is about flows.
func (f *forwarder) total(t *Totals) {
	c := &f.p.counts
	t.Flows += c.flows.Load()
	t.Lingering += c.lingering.Load()
	t.Forwarded += c.forwarded.Load()
	t.SegmentsUp += c.segments[track.Client].Load()
	t.SegmentsDown += c.segments[track.Server].Load()
	t.BytesUp += c.bytes[track.Client].Load()
	t.BytesDown += c.bytes[track.Server].Load()
	t.PassedOn += c.passedOn.Load()
	t.PassDrops += c.passDrops.Load()
	t.PortsOut += c.portsOut.Load()
	t.FlowsFull += c.flowsFull.Load()
	t.NoRoute += c.noRoute.Load()
	t.Unanswered += c.unanswered.Load()
	t.Refusals += c.refusals.Load()
	t.Stray += c.stray.Load()
	t.TTLDrops += c.ttl.Load()
	t.TooBig += c.tooBig.Load()
	t.ICMPTranslated += c.translated.Load()
	t.SpoofedResets += c.spoofed.Load()
	t.ResetProbes += c.resetProbes.Load()
	if f.common.oneArmed {
		return
	}
	q, s := f.link.queue.Counts(), &t.Servers
	s.FramesIn += q.InFrames
	s.BytesIn += q.InBytes
	s.FramesOut += q.OutFrames
	s.BytesOut += q.OutBytes
	s.OutDrops += q.DroppedDown + q.DroppedGone + q.DroppedMemory + q.DroppedInvalid
	s.Up = f.link.device.State() == device.Up
}
