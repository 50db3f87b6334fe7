package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/track"
)

// decision is what an owner does with somebody who arrives.
type decision uint8

const (
	toPark decision = iota
	toRelease
	toRefuse
	toIgnore
	toForward
)

// owner decides as a test tells it, keeps books, and holds the port against
// them.
type owner struct {
	t    testing.TB
	port *Port

	decide  func(i uint32) decision // nil: toPark
	departs bool                    // who leaves, stays as Departed until freed
	stays   bool                    // who closes its side has not left
	waiting int64                   // for Depth
	most    int64                   // for Depth; negative: any number

	told []string // arrived, left, connected, broken, moved

	records  map[uint32]uint8  // by number: its state
	sessions map[uint32]uint32 // released: the record
	conns    map[uint32]uint32 // connections: the session
	next     uint32            // session
	moves    bool              // tell of moves, too
	ready    map[uint32]sys.Ready

	arrived, connected, broken, gaveUp int

	// Of Forward.
	to                  netip.AddrPort  // where toForward goes
	flows               map[uint32]bool // that hold a slot; true: answered
	refused             bool            // who was refused is parked again
	carried             [2]int          // bytes, by track.Side
	ended               map[End]int
	forwarded, recalled int
}

func newOwner(t testing.TB) *owner {
	return &owner{
		t: t, most: -1, records: map[uint32]uint8{}, sessions: map[uint32]uint32{},
		conns: map[uint32]uint32{}, ready: map[uint32]sys.Ready{},
		flows: map[uint32]bool{}, ended: map[End]int{},
	}
}

func (o *owner) tell(word string) { o.told = append(o.told, word) }

func (o *owner) Arrived(i uint32, now int64) {
	o.tell("arrived")
	o.arrived++
	if _, ok := o.records[i]; ok {
		o.t.Fatalf("record %d arrived, which is there", i)
	}
	if id := o.port.Virtual(i); !o.port.Listens(id) {
		o.t.Fatalf("somebody arrived at virtual server %d, which is closed", id)
	}
	if s := o.port.Record(i).State; s != 0 {
		o.t.Fatalf("a record in state %d arrived", s)
	}
	d := toPark
	if o.decide != nil {
		d = o.decide(i)
	}
	switch d {
	case toPark:
		o.port.Park(i)
		o.records[i] = Parked
	case toRelease:
		o.release(i, now)
	case toRefuse:
		o.port.Refuse(i)
	case toIgnore:
		o.port.Ignore(i)
	case toForward:
		o.forward(i, now)
	}
}

// forward lets a record go on to the server.
func (o *owner) forward(i uint32, now int64) Passage {
	way := o.port.Forward(i, &Opening{To: o.to, Held: uint64(i) << 8, Patience: 5 * time.Second, Shake: 3 * time.Second}, now)
	if way != Passed {
		o.tell("no way")
		o.records[i] = Parked
		o.port.Park(i)
		return way
	}
	o.forwarded++
	o.records[i] = Forwarding
	o.flows[o.port.Record(i).Slot] = false
	return way
}

func (o *owner) Answered(f, i uint32, _ int64) {
	o.tell("answered")
	if answered, ok := o.flows[f]; !ok || answered {
		o.t.Fatalf("flow %d answered: %v, %v", f, ok, answered)
	}
	if o.port.Flow(f).Held != uint64(i)<<8 {
		o.t.Fatalf("flow %d holds %x, of record %d", f, o.port.Flow(f).Held, i)
	}
	o.flows[f] = true
	delete(o.records, i)
}

func (o *owner) Refused(i uint32, held uint64, now int64) {
	o.tell("refused")
	if o.records[i] != Forwarding || held != uint64(i)<<8 {
		o.t.Fatalf("record %d, state %d, refused with %x", i, o.records[i], held)
	}
	for f := range o.flows { // whose it was is gone
		if o.port.fwd.flows.At(f).Held == 0 {
			delete(o.flows, f)
		}
	}
	o.recalled++
	o.records[i] = Parked
	o.port.Park(i)
}

func (o *owner) Over(f uint32, how End, _ int64) {
	o.tell("over")
	if _, ok := o.flows[f]; !ok {
		o.t.Fatalf("flow %d is over (%d) and was not there", f, how)
	}
	delete(o.flows, f)
	o.ended[how]++
}

func (o *owner) Dropped(i uint32) {
	if o.records[i] != Forwarding {
		o.t.Fatalf("record %d, state %d, is dropped", i, o.records[i])
	}
	delete(o.records, i)
}

// cut ends a flow.
func (o *owner) cut(f uint32, now int64) { o.port.Cut(f, EndOwner, now) }

// recallFlow parks the client of a flow again, if its server has not answered.
func (o *owner) recallFlow(f uint32, now int64) {
	if i, _, ok := o.port.Recall(f, now); ok {
		delete(o.flows, f)
		o.recalled++
		o.records[i] = Parked
		o.port.Park(i)
	}
}

func (o *owner) Carried(f *flow.Flow, from track.Side, bytes int) { o.carried[from] += bytes }

// release lets a record go on, for a new session.
func (o *owner) release(i uint32, now int64) (session uint32) {
	o.next++
	o.records[i] = Released
	o.sessions[o.next] = i
	o.port.Release(i, o.next, now)
	return o.next
}

func (o *owner) refuse(i uint32) {
	delete(o.records, i)
	o.port.Refuse(i)
}

func (o *owner) giveUp(session uint32, now int64) {
	i := o.sessions[session]
	delete(o.sessions, session)
	delete(o.records, i)
	o.gaveUp++
	o.port.GiveUp(i, now)
}

func (o *owner) Left(i uint32, now int64) {
	o.tell("left")
	if s := o.records[i]; s != Parked {
		o.t.Fatalf("record %d left in state %d", i, s)
	}
	if o.departs {
		o.records[i] = Departed
		o.port.Depart(i, now)
		return
	}
	o.free(i)
}

func (o *owner) free(i uint32) {
	delete(o.records, i)
	o.port.Free(i)
}

// over takes a session that ended from the books.
func (o *owner) over(session uint32, how string) {
	o.tell(how)
	i, ok := o.sessions[session]
	if !ok {
		o.t.Fatalf("session %d is %s, and is over or never was", session, how)
	}
	if o.records[i] != Released {
		o.t.Fatalf("session %d is %s, its record in state %d", session, how, o.records[i])
	}
	delete(o.sessions, session)
	delete(o.records, i)
}

func (o *owner) Connected(session, conn uint32, r sys.Ready, _ int64) {
	o.over(session, "connected")
	o.connected++
	if s, ok := o.conns[conn]; ok {
		o.t.Fatalf("connection %d of session %d is there already, of %d", conn, session, s)
	}
	o.conns[conn] = session
	o.ready[conn] = r
}

func (o *owner) Broken(session uint32, _ int64) {
	o.over(session, "broken")
	o.broken++
}

func (o *owner) Moved(conn uint32, r sys.Ready, _ int64) {
	if _, ok := o.conns[conn]; !ok {
		o.t.Fatalf("connection %d moved, which is nobody's", conn)
	}
	o.ready[conn] |= r
	if o.moves {
		o.tell("moved")
	}
}

func (o *owner) Leaves(int) bool                 { return !o.stays }
func (o *owner) Depth(int) (waiting, most int64) { return o.waiting, o.most }
func (o *owner) hangup(conn uint32, clean bool, now int64) {
	delete(o.conns, conn)
	delete(o.ready, conn)
	o.port.Hangup(conn, clean, now)
}

// only returns the one record that there is.
func (o *owner) only() uint32 {
	o.t.Helper()
	return sole(o.t, "records", o.records)
}

// conn returns the one connection that there is.
func (o *owner) conn() uint32 {
	o.t.Helper()
	return sole(o.t, "connections", o.conns)
}

func sole[V any](t testing.TB, what string, of map[uint32]V) (i uint32) {
	t.Helper()
	if len(of) != 1 {
		t.Fatalf("%d %s, want one", len(of), what)
	}
	for i = range of {
	}
	return i
}

// empty ends all that there is.
func (o *owner) empty(now int64) {
	for i, s := range o.records {
		switch s {
		case Released:
			o.giveUp(o.port.Record(i).Slot, now)
		case Forwarding:
		default:
			o.free(i)
		}
	}
	for c := range o.conns {
		o.hangup(c, false, now)
	}
	for f := range o.flows {
		o.port.Cut(f, EndOwner, now)
	}
}

// audit holds the port against the books.
func (o *owner) audit() {
	o.t.Helper()
	p := o.port
	answered := map[uint32]bool{} // records that are the port's until their client is there
	for i := p.table.Next(0); i != 0; i = p.table.Next(i) {
		if r := p.table.At(i); r.State == Forwarding && p.Flow(r.Slot).Mark&told != 0 {
			answered[i] = true
		}
	}
	if n := p.Len() - len(answered); n != len(o.records) {
		o.t.Fatalf("%d records, and %d in the books", n, len(o.records))
	}
	records, unproven, flows := map[uint16]int{}, map[uint16]int{}, map[uint16]int{}
	shares, proofs := 0, int64(0)
	for i := p.table.Next(0); i != 0; i = p.table.Next(i) {
		r, k := p.table.At(i), p.table.Key(i)
		if r.State != o.records[i] && !answered[i] {
			o.t.Fatalf("record %d is in state %d, in the books in %d", i, r.State, o.records[i])
		}
		if p.table.Find(&k) != i {
			o.t.Fatalf("record %d is not found by its key", i)
		}
		records[k.Virtual]++
		if r.Mark&proven == 0 {
			unproven[k.Virtual]++
		} else {
			proofs++
		}
		if r.Mark&shared != 0 {
			shares++
			if p.shares.Held(&k.Peer) == 0 {
				o.t.Fatalf("record %d has a share that nobody holds", i)
			}
		}
	}
	for f := p.fwd.flows.Next(0); f != 0; f = p.fwd.flows.Next(f) {
		flows[p.fwd.flows.ClientKey(f).Tag]++
		if _, held := o.flows[f]; held != (p.Flow(f).Mark&over == 0) {
			o.t.Fatalf("flow %d holds a slot in the books: %v", f, held)
		}
	}
	if n := p.FlowsHeld(); n != len(o.flows) {
		o.t.Fatalf("%d flows, and %d in the books", n, len(o.flows))
	}
	for n := range p.listeners {
		l, k := &p.listeners[n], uint16(n)
		if l.records != records[k] || l.unproven != unproven[k] || l.flows != flows[k] {
			o.t.Fatalf("listener %d has %d records, %d unproven, %d flows; there are %d, %d and %d",
				n, l.records, l.unproven, l.flows, records[k], unproven[k], flows[k])
		}
		if n > 0 && l.id >= 0 && p.places[l.at] != k {
			o.t.Fatalf("listener %d is not found at its place", n)
		}
		if l.closed && l.records+l.flows == 0 {
			o.t.Fatalf("listener %d is closed and empty, and still there", n)
		}
	}
	c := &p.counts
	if n := c.parkedNow.Load(); n != int64(p.Len()) || c.provenNow.Load() != proofs {
		o.t.Fatalf("counters say %d records, %d proven; there are %d and %d", n, c.provenNow.Load(), p.Len(), proofs)
	}
	if started := int(c.released.Load()); started != o.connected+o.broken+o.gaveUp+len(o.sessions)+o.forwarded {
		o.t.Fatalf("%d releases, %d connected, %d broken, %d given up, %d on their way", started, o.connected, o.broken, o.gaveUp, len(o.sessions))
	}
}
