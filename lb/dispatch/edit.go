package dispatch

import (
	"cmp"
	"slices"

	"penstock/lb/limit"
	"penstock/lb/persist"
	"penstock/lb/queue"
)

// Changes of the topology and its rules. Nobody may be in any method of a Loop
// meanwhile: the loops stand still. A series of changes ends with Changed,
// which puts it into force. Numbers of what was removed are used again.

// AddNode adds a server address.
func (d *Dispatcher) AddNode(c NodeConfig) NodeID {
	n := &node{slots: limit.New(c.Limit, len(d.loops))}
	n.state.Store(uint32(c.State))
	n.id = NodeID(place(&d.nodes, &d.free.nodes, n))
	return n.id
}

// AddPool adds a pool without members.
func (d *Dispatcher) AddPool(c PoolConfig) PoolID {
	pl := &pool{slots: limit.New(c.Limit, len(d.loops)), past: new(QueueStats), salt: d.seed()}
	pl.setRules(c)
	pl.id = PoolID(place(&d.pools, &d.free.pools, pl))
	for _, l := range d.loops {
		l.next = grown(l.next, int(pl.id))
		l.next[pl.id] = chooser{}
	}
	return pl.id
}

// AddMember adds a member to its pool. It ramps up slowly, if the pool says so.
func (d *Dispatcher) AddMember(now Tick, c MemberConfig) MemberID {
	m := d.addMember(c)
	if m.up() {
		m.startRamp(now)
	}
	return m.id
}

func (d *Dispatcher) addMember(c MemberConfig) *member {
	pl := d.pools[c.Pool]
	d.gen++
	m := &member{gen: d.gen, pool: pl, node: d.nodes[c.Node], slots: limit.New(c.Limit, len(d.loops))}
	m.index = pl.indices
	pl.indices++
	m.set(c)
	m.id = MemberID(place(&d.members, &d.free.members, m))
	pl.members = append(pl.members, m)
	return m
}

func (m *member) set(c MemberConfig) {
	m.state.Store(uint32(c.State))
	m.limit.Store(c.Limit)
	m.slots.Set(c.Limit)
	m.depthCap.Store(c.Depth)
	m.ratio, m.priority, m.key = max(c.Ratio, 1), c.Priority, c.Key
}

// AddVirtual adds a virtual server.
func (d *Dispatcher) AddVirtual(c VirtualConfig) VirtualID {
	v := &virtual{slots: limit.New(c.Limit, len(d.loops)), fresh: newRings(len(d.loops))}
	v.usable = d.usableBy(v)
	v.id = VirtualID(place(&d.virtuals, &d.free.virtuals, v))
	v.free = newGroup(groupKey{virtual: v}, len(d.loops))
	d.setVirtual(v, c)
	return v.id
}

func (d *Dispatcher) setVirtual(v *virtual, c VirtualConfig) {
	c.Override = c.Override && c.Persist.on() // nobody is persisted without records
	old := v.cfg
	v.cfg = c
	v.slots.Set(c.Limit)
	v.class = min(c.Class, topClass)
	v.classes = v.classes[:0]
	for _, r := range c.Classes {
		v.classes = append(v.classes, newClass(r))
	}
	slices.SortStableFunc(v.classes, func(a, b class) int { return cmp.Compare(b.bits, a.bits) })
	v.regroup = v.regroup || c.Class != old.Class || !slices.Equal(c.Classes, old.Classes)
	d.setPersistence(v, c, old)
	v.join(d.pools[c.Pool])
}

func (d *Dispatcher) setPersistence(v *virtual, c, old VirtualConfig) {
	if t := v.records.Load(); c.Persist == old.Persist && t != nil {
		t.SetTimeout(int64(c.Timeout))
		return
	}
	v.records.Store(nil)
	if c.Persist.on() {
		v.records.Store(persist.New(d.seed(), int(c.Persist.V4), int(c.Persist.V6), int64(c.Timeout)))
	}
}

// seed differs from table to table and, by Config.Seed, from process to process.
func (d *Dispatcher) seed() uint64 {
	d.seeds++
	return mix(d.salt + d.seeds)
}

// SetNode changes a server address.
func (d *Dispatcher) SetNode(now Tick, id NodeID, c NodeConfig) {
	d.nodes[id].slots.Set(c.Limit)
	d.setNodeState(now, d.nodes[id], c.State)
}

// SetPool changes a pool and its rules.
func (d *Dispatcher) SetPool(_ Tick, id PoolID, c PoolConfig) {
	d.pools[id].slots.Set(c.Limit)
	d.pools[id].setRules(c)
}

// SetMember changes a member. Pool and Node are not looked at.
func (d *Dispatcher) SetMember(now Tick, id MemberID, c MemberConfig) {
	m := d.members[id]
	m.note(now, func() { m.set(c) })
}

// SetMemberUp is the monitor's word on a member. Down is as offline; a member
// that comes up is well again, and ramps up slowly.
func (d *Dispatcher) SetMemberUp(now Tick, id MemberID, up bool) {
	m := d.members[id]
	m.note(now, func() {
		if m.down.Store(!up); up {
			m.well()
		}
	})
}

// SetVirtual changes a virtual server. If it is given another pool, its
// waiters go there, each with its ticket.
func (d *Dispatcher) SetVirtual(_ Tick, id VirtualID, c VirtualConfig) {
	d.setVirtual(d.virtuals[id], c)
}

// RemoveMember takes a member out. Its waiters go to the pool's queue; what is
// connected goes on. It is forgotten when that has ended; see ForgetMember.
func (d *Dispatcher) RemoveMember(_ Tick, id MemberID) { d.members[id].remove() }

func (m *member) remove() {
	m.removed.Store(true)
	m.stats.tell()
	m.stats.Head.Store(0)
}

// ReviveMember takes back a member that was removed and is not forgotten yet:
// what is still connected to it counts. It ramps up slowly, as an added one.
func (d *Dispatcher) ReviveMember(now Tick, id MemberID, c MemberConfig) {
	m := d.members[id]
	m.note(now, func() {
		m.removed.Store(false)
		m.set(c)
	})
	if !slices.Contains(m.pool.members, m) {
		m.pool.members = append(m.pool.members, m)
	}
}

// ReviveNode does the same for a node.
func (d *Dispatcher) ReviveNode(now Tick, id NodeID, c NodeConfig) {
	d.nodes[id].removed = false
	d.SetNode(now, id, c)
}

// RemoveVirtual takes a virtual server out. What is connected goes on, and who
// waits is served.
func (d *Dispatcher) RemoveVirtual(_ Tick, id VirtualID) { d.virtuals[id].removed = true }

// RemovePool takes a pool out, with its members. It is forgotten when these
// are, and its virtual servers.
func (d *Dispatcher) RemovePool(_ Tick, id PoolID) {
	pl := d.pools[id]
	pl.removed = true
	for _, m := range pl.members { // of which one may be forgotten, and its number another's
		m.remove()
	}
}

// RemoveNode takes a server address out; its members are to be removed before.
func (d *Dispatcher) RemoveNode(_ Tick, id NodeID) { d.nodes[id].removed = true }

// ForgetMember frees the number of a removed member. The caller says that no
// connection of its own names it any more. False if somebody else's still does.
// After a series of these Publish shows it to readers.
func (d *Dispatcher) ForgetMember(id MemberID) bool {
	m := d.members[id]
	if !m.removed.Load() || m.slots.InUse() != 0 || m.depth.Load() != 0 || d.waitedFor(m) {
		return false
	}
	m.well()                // it is not counted among those in back-off any more
	past := new(QueueStats) // another one: readers add it up with the members they see
	past.add(m.pool.past)
	past.add(&m.stats)
	m.pool.past = past
	d.members[id] = nil
	d.free.members = min(d.free.members, int(id))
	return true
}

// waitedFor says whether somebody stands in a queue of those who want the
// member. The entries of waiters who left name it too, but nobody reads that.
func (d *Dispatcher) waitedFor(m *member) bool {
	for _, h := range d.homes {
		for _, g := range h.active {
			if g.member == m && d.anyAlive(g.queue) {
				return true
			}
		}
	}
	return false
}

func (d *Dispatcher) anyAlive(q *queue.Queue) bool {
	c := q.Cursor()
	for e := c.Next(); e != nil; e = c.Next() {
		if d.alive(e) {
			return true
		}
	}
	return false
}

// ForgetVirtual does the same for a virtual server.
func (d *Dispatcher) ForgetVirtual(id VirtualID) bool {
	v := d.virtuals[id]
	if !v.removed || v.slots.InUse() != 0 || v.waits.Load() != 0 {
		return false
	}
	v.leavePool()
	d.virtuals[id] = nil
	d.free.virtuals = min(d.free.virtuals, int(id))
	return true
}

// note makes a change of a member, and starts its slow ramp if that brought it
// up.
func (m *member) note(now Tick, change func()) {
	was := m.up()
	change()
	if !was && m.up() {
		m.startRamp(now)
	}
}

// startRamp has the home raise the member's limit slowly from 1 on.
func (m *member) startRamp(now Tick) {
	m.rampFrom.Store(int64(now))
	if h := m.pool.home; h != nil {
		h.ramping.Store(true)
	}
}

func (d *Dispatcher) setNodeState(now Tick, n *node, s State) {
	was := n.state.Load()
	if was == uint32(s) {
		return
	}
	d.eachOf(n, func(m *member) {
		n.state.Store(was)
		m.note(now, func() { n.state.Store(uint32(s)) })
	})
	n.state.Store(uint32(s))
}

func (d *Dispatcher) eachOf(n *node, do func(*member)) {
	for _, m := range d.members {
		if m != nil && m.node == n {
			do(m)
		}
	}
}

func (pl *pool) setRules(c PoolConfig) {
	pl.setQueueRules(c)
	pl.tries, pl.mode, pl.minActive = c.Tries, c.Mode, c.MinActive
	pl.slowRamp, pl.persistWait, pl.classAge = c.SlowRamp, c.PersistWait, c.ClassAge
	pl.shedding, pl.refuseEarly = c.CoDel, c.RefuseEarly
	pl.regroup = pl.regroup || pl.fair != c.Fair
	pl.fair = c.Fair
}

func (pl *pool) setQueueRules(c PoolConfig) {
	pl.queue.Store(c.Queue)
	pl.depthCap.Store(c.Depth)
	pl.downCap.Store(c.DownDepth)
	pl.queueTime.Store(int64(c.QueueTime))
	pl.whenDown.Store(c.WhenDownQueue)
	pl.whenDownTime.Store(int64(c.WhenDownTime))
}

// firstFree are numbers below which none is free.
type firstFree struct{ virtuals, pools, members, nodes int }

// place puts an object at the first free number.
func place[T any](s *[]*T, from *int, o *T) int {
	i := *from
	for i < len(*s) && (*s)[i] != nil {
		i++
	}
	*from = i + 1
	if i == len(*s) {
		*s = append(*s, o)
	} else {
		(*s)[i] = o
	}
	return i
}

// grown returns s with room for index i.
func grown[T any](s []T, i int) []T {
	if i >= len(s) {
		s = append(s, make([]T, i+1-len(s))...)
	}
	return s
}
