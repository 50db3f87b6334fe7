package dispatch

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rig runs a dispatcher with one goroutine a loop, as a front end would, and
// measures concurrency by itself: it does not trust the counters.
type rig struct {
	*Dispatcher
	*topology
	start time.Time
	wakes []chan struct{}
	still sync.RWMutex // held for writing while all loops stand still

	levels    map[string][]gauge // by kind of object
	overshoot atomic.Int64
	ghosts    atomic.Int64 // dials to who takes nobody any more
	wrong     atomic.Int64 // outcomes of clients that don't wait
	handoffs  atomic.Int64 // grants that ended a wait
	done      atomic.Int64 // drivers without a client left
}

// gauge counts what is connected to one object, as a server would.
type gauge struct {
	now     atomic.Int64
	allowed atomic.Int64 // 0: any number
	closed  atomic.Bool  // takes nobody any more
	ramp    atomic.Int64 // since when it ramps up to what is allowed; 0: it doesn't
	_       [32]byte
}

// rampTime is how long that takes.
const rampTime = 200 * time.Millisecond

// most is how many may be there now; 0 is any number.
func (g *gauge) most(now Tick) int64 {
	n, from := g.allowed.Load(), g.ramp.Load()
	if age := int64(now) - from; from != 0 && age < int64(rampTime) {
		return max(1, (n*age+int64(rampTime)-1)/int64(rampTime))
	}
	return n
}

// roomFor is how many objects of a kind a rig can count.
const roomFor = 16

func newRig(loops int, text string) *rig {
	r := &rig{topology: mustTopology(loops, text), start: time.Now(), wakes: make([]chan struct{}, loops)}
	for i := range r.wakes {
		r.wakes[i] = make(chan struct{}, 1)
	}
	r.levels = map[string][]gauge{}
	for kind, names := range r.names {
		r.levels[kind] = make([]gauge, max(len(names), roomFor))
	}
	for i, c := range r.Virtuals {
		r.levels["virtual"][i].allowed.Store(c.Limit)
	}
	for i, c := range r.Pools {
		r.levels["pool"][i].allowed.Store(c.Limit)
	}
	for i, c := range r.Members {
		r.levels["member"][i].allowed.Store(c.Limit)
	}
	for i, c := range r.Nodes {
		r.levels["node"][i].allowed.Store(c.Limit)
	}
	r.Dispatcher = New(r.Config, func(i int) {
		select {
		case r.wakes[i] <- struct{}{}:
		default:
		}
	})
	return r
}

func (r *rig) now() Tick { return Tick(time.Since(r.start)) + 1 }

func (r *rig) gauges(p Path) [4]*gauge {
	m := r.Members[p.Member]
	return [4]*gauge{
		&r.levels["virtual"][p.Virtual], &r.levels["pool"][m.Pool],
		&r.levels["member"][p.Member], &r.levels["node"][m.Node],
	}
}

// enter is the server's side of a connection: it is there.
func (r *rig) enter(p Path) {
	for _, g := range r.gauges(p) {
		before := g.most(r.now()) // a limit may be lowered, for having been reached, before it is looked at below
		n := g.now.Add(1)
		if most := g.most(r.now()); before > 0 && most > 0 && n > max(before, most) {
			r.overshoot.Add(1)
		}
		if g.closed.Load() {
			r.ghosts.Add(1)
		}
	}
}

func (r *rig) exit(p Path) {
	for _, g := range r.gauges(p) {
		g.now.Add(-1)
	}
}

// pump does what an event loop does between its events.
func (r *rig) pump(l *Loop, outcome func(Outcome)) {
	select {
	case <-r.wakes[l.index]:
	default:
	}
	if d := l.Due(); d != 0 && d <= r.now() {
		l.Run(r.now())
	}
	for o, ok := l.Next(); ok; o, ok = l.Next() {
		outcome(o)
	}
}

// driver is the clients of one loop.
type driver struct {
	*rig
	l       *Loop
	rnd     *rand.Rand
	clients []stressClient
	served  int64
	quota   int64

	sticky  bool   // a third of the clients are persisted to a member
	faults  bool   // clients leave, dials fail
	checked bool   // a path is asked for before its use
	extra   func() // called at every turn, if any
	granted func(*stressClient, VirtualID)
	until   chan struct{} // goes on until it is closed, if there is one
}

type stressClient struct {
	state  int
	waiter Waiter
	path   Path
	a      Attempt
	conn   uint32 // what its loop calls it
	back   bool   // it was withdrawn, and came back to the queue later than others
}

const (
	idle = iota
	parked
	connected
)

func (d *driver) connect(c *stressClient, p Path) {
	if d.checked && !d.l.Usable(p) {
		c.back = true
		d.took(c, d.l.Withdraw(d.now(), p, c.conn, &c.a))
		return
	}
	d.enter(p)
	c.state, c.path = connected, p
}

func (d *driver) end(c *stressClient) {
	d.exit(c.path)
	d.l.Release(d.now(), c.path)
	c.state = idle
	d.served++
}

func (d *driver) outcome(o Outcome) {
	c := &d.clients[o.Conn]
	if c.state != parked {
		d.wrong.Add(1)
	}
	if o.Reason != NotRefused {
		c.state = idle
		return
	}
	d.rig.handoffs.Add(1)
	if d.granted != nil {
		d.granted(c, o.Path.Virtual)
	}
	d.connect(c, o.Path)
}

func (d *driver) took(c *stressClient, v Verdict) {
	switch v.Kind {
	case Proceed:
		d.connect(c, v.Path)
	case Wait:
		c.state, c.waiter = parked, v.Waiter
	case Refuse:
		c.state = idle
	}
}

func (d *driver) arrive(k int) {
	c := &d.clients[k]
	v := VirtualID(d.rnd.IntN(len(d.Virtuals)))
	s := Sticky(0)
	if d.sticky && d.rnd.IntN(3) == 0 {
		if m := d.rnd.IntN(len(d.Members)); d.Members[m].Pool == d.Virtuals[v].Pool {
			s = Sticky(m) + 1
		}
	}
	now := d.now()
	c.conn, c.back = uint32(k), false
	c.a = Attempt{Since: now, Source: sender(d.rnd.IntN(8))}
	if d.checked { // by their records
		d.took(c, d.l.Arrive(now, v, uint32(k), c.a))
		return
	}
	d.took(c, d.l.arriveAs(now, v, s, uint32(k), c.a))
}

func (d *driver) step() {
	d.still.RLock()
	defer d.still.RUnlock()
	k := d.rnd.IntN(len(d.clients))
	c := &d.clients[k]
	switch {
	case c.state == idle:
		d.arrive(k)
	case c.state == parked && d.faults && d.rnd.IntN(20) == 0:
		if d.l.Leave(d.now(), c.waiter, c.a.Since) {
			c.state = idle
		}
	case c.state == connected && d.faults && d.rnd.IntN(2000) == 0: // each costs a pause of 50 ms
		d.exit(c.path)
		d.took(c, d.l.Failed(d.now(), c.path, uint32(k), &c.a))
	case c.state == connected:
		d.l.Dialled(d.now(), &c.path)
		d.end(c)
	}
	d.pump(d.l, d.outcome)
	if d.extra != nil {
		d.extra()
	}
	if c.state == parked || d.rnd.IntN(64) == 0 {
		runtime.Gosched() // the slot may be with another thread
	}
}

func (d *driver) goesOn() bool {
	if d.until == nil {
		return false
	}
	select {
	case <-d.until:
		return false
	default:
		return true
	}
}

// run steps until the quota is served, then sees to the clients it has left,
// and to its duties for others (passes, pauses) until all have done so.
func (d *driver) run(drivers int64) {
	all, least := measured(), d.quota/100
	for d.served < d.quota || d.goesOn() {
		d.step()
		if soon := d.served + 100; !all && soon < d.quota && soon > least && d.now() > Tick(ample) {
			d.quota = soon
		}
	}
	// The others may be at it for as long as this one was, and longer.
	deadline := time.Now().Add(2*time.Minute + time.Duration(d.quota)*100*time.Microsecond)
	told := false
	for d.done.Load() < drivers && time.Now().Before(deadline) {
		d.still.RLock()
		d.pump(d.l, d.outcome)
		busy := false
		for k := range d.clients {
			if c := &d.clients[k]; c.state == connected {
				d.l.Dialled(d.now(), &c.path)
				d.end(c)
			}
			busy = busy || d.clients[k].state != idle
		}
		if !busy && !told {
			told = true
			d.done.Add(1)
		}
		d.still.RUnlock()
		runtime.Gosched()
	}
}

// stress runs the drivers and checks what must hold whatever happened.
func (r *rig) stress(t *testing.T, clients int, setUp func(*driver)) {
	t.Helper()
	loops := int64(r.Loops)
	var wg sync.WaitGroup
	for i := range r.Loops {
		d := &driver{
			rig: r, l: r.Loop(i), rnd: rand.New(rand.NewPCG(uint64(i), 7)),
			clients: make([]stressClient, clients), quota: *handoffs / loops / 2 / slower,
		}
		setUp(d)
		wg.Go(func() { d.run(loops) })
	}
	wg.Wait()
	if over, ghosts, wrong := r.overshoot.Load(), r.ghosts.Load(), r.wrong.Load(); over+ghosts+wrong > 0 {
		t.Errorf("%d overshoots, %d dials to who takes nobody, %d outcomes for nobody", over, ghosts, wrong)
	}
	if n := r.done.Load(); n != loops {
		t.Errorf("clients are left on %d of %d loops", loops-n, loops)
	}
	checkEmpty(t, r.Dispatcher)
	t.Logf("%d hand-offs in %v", r.handoffs.Load(), time.Since(r.start))
}

const stressTopology = `
node small limit=5
node big
pool p tries=200
virtual one
virtual two limit=4
member A node=small limit=3
member B node=big limit=1
pool q tries=200
virtual three
member C node=small limit=3
member D node=big limit=2`

func TestStressNoOvershootNobodyStranded(t *testing.T) {
	newRig(4, stressTopology).stress(t, 40, func(d *driver) { d.faults = true })
}

func TestStressSticky(t *testing.T) {
	newRig(4, stressTopology).stress(t, 40, func(d *driver) { d.faults, d.sticky = true, true })
}

func TestStressExpiry(t *testing.T) {
	r := newRig(4, stressTopology)
	l := r.Loop(0)
	for p := range r.Pools {
		r.Pools[p].QueueTime = 300e3
		l.SetPoolRules(1, PoolID(p), r.Pools[p])
	}
	r.stress(t, 40, func(d *driver) { d.faults, d.sticky = true, true })
	if r.PoolQueueAll(0).Expired.Load() == 0 {
		t.Log("nobody expired: the test shows little")
	}
}

// One slot, handed from client to client over all loops.
func TestStressHandOff(t *testing.T) {
	newRig(4, "pool p\nvirtual v\nmember A limit=1").stress(t, 8, func(d *driver) { d.quota *= 2 })
}

// Limits that have shards.
func TestStressShards(t *testing.T) {
	newRig(2, "pool p\nvirtual v limit=90\nmember A limit=40\nmember B limit=60").stress(t, 80, func(*driver) {})
}

// One loop moves limits and states meanwhile. What may be in use at a moment
// is the larger one of the limits before and after a change, until the smaller
// one is in force and reached.
func TestStressChanges(t *testing.T) {
	r := newRig(4, stressTopology)
	r.stress(t, 40, func(d *driver) {
		d.faults, d.sticky = true, true
		if d.l.index == 0 {
			m := &mover{driver: d}
			d.extra = m.turn
		}
	})
}

// mover changes something every few turns, one thing at a time.
type mover struct {
	*driver
	lowered *gauge // waits for its limit to be reached
	to      int64
	member  *member
	quiet   bool // the home has been idle since: the change is in force
}

func (m *mover) turn() {
	switch {
	case m.lowered != nil:
		m.settle()
	case m.served >= m.quota-100: // leave the place as it was
		for i := range m.members {
			m.l.SetMemberState(m.now(), MemberID(i), Enabled)
		}
	case m.rnd.IntN(50) == 0:
		m.move(MemberID(m.rnd.IntN(len(m.Members))), 1+m.rnd.Int64N(6))
	case m.rnd.IntN(200) == 0:
		m.l.SetMemberState(m.now(), 1, State(m.rnd.IntN(3)))
	}
}

func (m *mover) move(id MemberID, to int64) {
	g := &m.levels["member"][id]
	if to >= g.allowed.Load() {
		g.allowed.Store(to)
	} else {
		m.lowered, m.to, m.member, m.quiet = g, to, m.members[id], false
	}
	m.l.SetMemberLimit(m.now(), id, to)
}

func (m *mover) settle() {
	m.quiet = m.quiet || m.member.pool.home.state.Load() == 0
	if m.quiet && !m.member.slots.Strict() && m.member.slots.InUse() <= m.to {
		m.lowered.allowed.Store(m.to)
		m.lowered = nil
	}
}
