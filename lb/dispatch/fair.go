package dispatch

import (
	"slices"

	"penstock/lb/queue"
)

// Fairness among senders (queue-fair): waiters of a pool are sorted by the
// prefix they come from into flows, and the flows are served in turn, each one
// connection: deficit round robin where every packet is as large as the
// quantum. Within a flow the oldest goes first.
//
// There is a fixed number of flows, so that a million prefixes cost no more
// than these; a prefix is dealt a hand of them by its hash (shuffle sharding,
// as in Kubernetes' API priority and fairness, pkg/util/shufflesharding). It
// has one of the hand for itself while there is one, and joins the shortest
// else: who floods the queue fills its own flow, and harms those only whose
// whole hand is taken.
const (
	flowsOfLine = 256
	handOfFlows = 8 // bytes of a hash, one a card
)

// topClass is the highest queue-class. It is served first.
const topClass = 7

// line is the flows of one class of a pool.
type line struct {
	pool  *pool
	flows [flowsOfLine]flow
	turn  []*flow // those with waiters, in the order they are served
	next  int     // in turn
}

type flow struct {
	line   *line
	index  uint16
	owner  uint64   // hash of the prefix that has it for itself
	groups []*group // with entries
}

// flowOf returns the flow for a client.
func (pl *pool) flowOf(class uint8, from Source) *flow {
	ln := pl.lines[class]
	if ln == nil {
		ln = &line{pool: pl}
		for i := range ln.flows {
			ln.flows[i].line, ln.flows[i].index = ln, uint16(i)
		}
		pl.lines[class] = ln
	}
	return ln.deal(hashOf(pl.fair.of(from), pl.salt))
}

// deal chooses among the hand of a prefix.
func (ln *line) deal(hash uint64) *flow {
	var empty, shortest *flow
	for h := hash; h != 0; h >>= 64 / handOfFlows {
		f := &ln.flows[h%flowsOfLine]
		switch {
		case f.owner == hash:
			return f
		case len(f.groups) == 0:
			if empty == nil {
				empty = f
			}
		case shortest == nil || f.len() < shortest.len():
			shortest = f
		}
	}
	if empty != nil {
		empty.owner = hash
		return empty
	}
	return shortest
}

// hashOf mixes an address with a salt; never 0.
func hashOf(s Source, salt uint64) uint64 {
	return max(mix(mix(s.Hi^salt)^s.Lo), 1)
}

// mix is the finalizer of MurmurHash3 (Austin Appleby, public domain).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (f *flow) len() (n int) {
	for _, g := range f.groups {
		n += g.queue.Len()
	}
	return n
}

// enter adds a group that has waiters now. A flow that had none is served
// after all others.
func (f *flow) enter(g *group) {
	if ln := f.line; len(f.groups) == 0 {
		if len(ln.turn) == 0 {
			ln.pool.fairly = append(ln.pool.fairly, ln)
		}
		ln.turn = slices.Insert(ln.turn, ln.next, f)
		ln.next++
	}
	f.groups = append(f.groups, g)
}

// exit takes a group off that has no waiters any more.
func (f *flow) exit(g *group) {
	f.groups = slices.DeleteFunc(f.groups, func(o *group) bool { return o == g })
	if len(f.groups) > 0 {
		return
	}
	f.owner = 0
	ln := f.line
	i := slices.Index(ln.turn, f)
	ln.turn = slices.Delete(ln.turn, i, i+1)
	if i < ln.next {
		ln.next--
	}
	if len(ln.turn) == 0 {
		ln.pool.fairly = slices.DeleteFunc(ln.pool.fairly, func(o *line) bool { return o == ln })
	}
}

// hadTurn notes that a waiter of the flow was served.
func (f *flow) hadTurn() { f.line.next = slices.Index(f.line.turn, f) + 1 }

// passedOver has the flows asked again whose turn was before that of from, but
// that found nothing. True if there is one that may want m.
func (p *pass) passedOver(from *group, m *member) (found bool) {
	f := from.flow
	ln := f.line
	n := len(ln.turn)
	for i := range n {
		o := ln.turn[(ln.next+i)%n]
		if o == f {
			break
		}
		for _, g := range o.groups {
			found = p.askAgain(from, g, m) || found
		}
	}
	return found
}

// letIn judges a newcomer where the loop that let it in could not, since who
// comes last is not served last.
func (p *pass) letIn(g *group, e *queue.Entry) {
	pl := g.virtual.pool
	if most := pl.depthCap.Load(); pl.fair.on() && most > 0 && pl.depth.Load() > most {
		p.pushOut(g, e)
		return
	}
	if pl.refuseEarly && !pl.paused.Load() && pl.hopeless(p.now, p.upTo(g)) {
		p.refuse(g, *e, early)
	}
}

// pushOut refuses one of a fair pool whose queue has become too deep by a
// newcomer: that one if its own flow is the longest, or else the oldest of the
// longest flow, as FQ-CoDel does (RFC 8290, section 4.1.3). So who floods the queue
// can't fill it for the others.
func (p *pass) pushOut(g *group, e *queue.Entry) {
	out := g.virtual.pool.longest(g.flow)
	if out == nil {
		p.refuse(g, *e, overflow)
		return
	}
	for head := out.queue.Head(); head != nil; head = out.queue.Head() {
		there := p.alive(head)
		if there {
			p.refuse(out, *head, overflow)
		}
		p.drop(out)
		if there {
			return
		}
	}
}

// longest returns the queue with the oldest head of the flow with the most
// entries; nil if that is f.
func (pl *pool) longest(f *flow) (g *group) {
	most, n := f, 0
	if f != nil {
		n = f.len()
	}
	for _, ln := range pl.fairly {
		for _, o := range ln.turn {
			if l := o.len(); l > n {
				most, n = o, l
			}
		}
	}
	if most == f {
		return nil
	}
	for _, o := range most.groups {
		if h := o.queue.Head(); h != nil && (g == nil || h.Before(g.queue.Head())) {
			g = o
		}
	}
	return g
}

// upTo counts those who are served until the last of g is, were all slots to
// free one after the other: in a fair pool as many of each flow.
func (p *pass) upTo(g *group) (n int64) {
	if g.flow != nil {
		return int64(g.flow.len() * len(g.flow.line.turn))
	}
	for _, o := range p.active {
		if o.virtual.pool == g.virtual.pool && o.later <= g.later {
			n += int64(o.queue.Len())
		}
	}
	return n
}

// headOf returns the queue whose head is next in the line: of the first flow in
// turn that has one which is not blocked, the oldest.
func (p *pass) headOf(ln *line) *group {
	n := len(ln.turn)
	for i := range n {
		f := ln.turn[(ln.next+i)%n]
		var c candidate
		for _, g := range f.groups {
			p.consider(&c, g)
		}
		if c.group != nil {
			return c.group
		}
	}
	return nil
}
