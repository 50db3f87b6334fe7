package proxy

import (
	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/sys"
)

// sweep is a walk through all pairs of a loop, a portion each turn, so that no
// socket is kept waiting however many sessions there are.
type sweep struct {
	what sweepKind
	id   uint16 // of a virtual server or member
	at   int64  // sessions that got their slot later are left alone
	next uint32 // pair to be looked at
	flow uint32 // of the TAP port, the last that was looked at
}

type sweepKind uint8

const (
	rearm    sweepKind = iota // the virtual server's timeouts changed
	cutOff                    // the member's sessions are reset
	reselect                  // ... or go back to their places, if nothing was said
)

const (
	sweepLook = 4096 // pairs looked at in one turn
	sweepDo   = 64   // sessions ended or put back in one turn
)

// ResetMember resets the sessions that have a slot of member id, to both sides
// (ServerDown). Only within Isolate.
func (p *Proxy) ResetMember(id int) { p.sweepMember(cutOff, id) }

// ReselectMember puts sessions with a slot of member id, over which neither
// side has said anything, back to their places in the queue; a server that
// was connected sees a FIN. The others are reset. Only within Isolate, and the
// member must not be one that takes new clients.
func (p *Proxy) ReselectMember(id int) { p.sweepMember(reselect, id) }

func (p *Proxy) sweepMember(what sweepKind, id int) {
	s := sweep{what: what, id: uint16(id), at: kernel.Clock(), next: 1}
	for _, w := range p.workers {
		w.sweeps = append(w.sweeps, s)
	}
}

// sweepOn does a portion of the oldest sweep.
func (w *worker) sweepOn(now int64) {
	s := &w.sweeps[0]
	done := 0
	for last := s.next + sweepLook; s.next < min(last, w.pairs.Cap()) && done < sweepDo; s.next++ {
		p := w.pairs.At(s.next)
		if p.client != 0 && w.swept(s, p, now) {
			done++
		}
	}
	if s.next >= w.pairs.Cap() && w.sweepFlows(s, sweepDo-done, now) {
		w.sweeps = w.sweeps[1:]
	}
}

// sweepFlows goes on with the flows, which come behind the pairs.
func (w *worker) sweepFlows(s *sweep, do int, now int64) (done bool) {
	if w.tap == nil {
		return true
	}
	for range sweepLook {
		if do <= 0 {
			return false
		}
		if s.flow = w.tap.NextFlow(s.flow); s.flow == 0 {
			return true
		}
		if w.sweepFlow(s, s.flow, now) {
			do--
		}
	}
	return false
}

// swept does to a pair's session what the sweep is for, if it is meant.
func (w *worker) swept(s *sweep, p *pair, now int64) bool {
	i := p.client
	c := w.clients.At(i)
	if s.what == rearm {
		if c.state != relaying || c.virtual != dispatch.VirtualID(s.id) {
			return false
		}
		w.arm(c, p)
		return true
	}
	if p.flags&slotted == 0 || p.path.Member != dispatch.MemberID(s.id) || p.granted > s.at || c.state == flushing {
		return false
	}
	if s.what == reselect && w.unsaid(c, p) {
		w.withdrawPair(i, c, p, now)
		return true
	}
	w.end(i, c, ServerDown, "proxy", now)
	return true
}

// unsaid says whether a session can begin again with another server, and
// nobody will know.
func (w *worker) unsaid(c *client, p *pair) bool {
	if c.state != relaying {
		return true // it dials, or is about to
	}
	if !p.holds || p.flags&(serverDeaf|serverBroke|serverFin) != 0 || !p.up.Fresh() || !p.down.Fresh() {
		return false
	}
	var b [1]byte
	_, e := sys.Peek(int(p.server.FD), b[:])
	return e == unix.EAGAIN
}
