package dispatch

import (
	"penstock/lb/persist"
	"penstock/lb/queue"
)

// Persistence: a virtual server's records say which member the clients of a
// source prefix go to. A client with a record waits for that member; one
// without makes a record of the member it is given. Of many first connections
// at once, on many loops, one makes the record, and the others follow it.
//
// In a pool with source-hash and persist-wait the member a source hashes to is
// waited for in the same way, without a record.

// Marks of an entry: its class, and whether it is waived.
const (
	classBits = 7
	// waived: it has waited long enough for its member, or that refused it. It
	// takes any from now on.
	waived = 1 << 3
)

// memberFor names the member a client is to wait for, plus one; 0: any.
func (d *Dispatcher) memberFor(now Tick, v *virtual, from Source) Sticky {
	if from == unknown || !v.usesAddr {
		return 0
	}
	if t := v.records.Load(); t != nil {
		if m, ok := t.Find(int64(now), from.Hi, from.Lo); ok && v.usable(m) {
			return Sticky(m.ID) + 1
		}
	} else if v.pool.mode == BySource && v.pool.persistWait > 0 {
		if m := v.pool.hashed(from); m != nil {
			return Sticky(m.id) + 1
		}
	}
	return 0
}

// hashed returns the member that a source hashes to, full or not, among those
// of the priority groups that are open when nobody is full.
func (pl *pool) hashed(from Source) *member {
	open := pl.open((*member).up)
	if i := bestHash(open, from, (*member).up); i >= 0 {
		return open[i]
	}
	return nil
}

// name is how a record names a member.
func (m *member) name() persist.Member { return persist.Member{ID: uint16(m.id), Gen: m.gen} }

// usableBy returns the rule of which members a record may name.
func (d *Dispatcher) usableBy(v *virtual) func(persist.Member) bool {
	return func(n persist.Member) bool {
		if int(n.ID) >= len(d.members) {
			return false
		}
		m := d.members[n.ID]
		return m != nil && m.gen == n.Gen && m.pool == v.pool && m.takes(true)
	}
}

// claim makes m the member of the source, unless it has one that is usable and
// that it is to stay with: that is returned then.
func (v *virtual) claim(now Tick, from Source, m *member, leaves bool) persist.Member {
	t := v.records.Load()
	if t == nil || from == unknown {
		return m.name()
	}
	usable := v.usable
	if leaves {
		usable = nobody
	}
	return t.Claim(int64(now), from.Hi, from.Lo, m.name(), usable)
}

// recorded names the member that the head of a queue for any has a record of
// by now, and is to wait for; 0: none.
func (p *pass) recorded(g *group, e *queue.Entry) Sticky {
	if g.member != nil || e.Mark&waived != 0 || g.virtual.records.Load() == nil {
		return 0
	}
	return p.d.memberFor(p.now, g.virtual, p.d.sourceOf(g.virtual, e))
}

// persistedNow moves the head of a queue for any member to that of the member
// it has a record of by now. True if it did.
func (p *pass) persistedNow(g *group, e *queue.Entry) bool {
	s := p.recorded(g, e)
	if s == 0 {
		return false
	}
	if t := g.virtual.pool.persistWait; t > 0 && Tick(e.Since)+t <= p.now {
		e.Mark |= waived // it would come back at once
		return false
	}
	p.moveHead(g, s, p.d.queueFor(p.now, g.virtual, s), 0)
	return true
}

// record makes the record of a waiter that is about to get path. False if
// another loop was faster and gave its source another member: then it looks
// again.
func (p *pass) record(g *group, e *queue.Entry, path Path) bool {
	from, m := p.d.sourceOf(g.virtual, e), p.d.members[path.Member]
	has := g.virtual.claim(p.now, from, m, e.Mark&waived != 0)
	return has == m.name() || g.member != nil // it goes where its record said when it came
}

// nobody may stay where the record says.
func nobody(persist.Member) bool { return false }

// staysUntil is when a waiter has waited long enough for its member; 0: never.
func (g *group) staysUntil(e *queue.Entry) Tick {
	if t := g.virtual.pool.persistWait; t > 0 && g.member != nil {
		return Tick(e.Since) + t
	}
	return 0
}
