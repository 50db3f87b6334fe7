package dispatch

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// operator changes the topology while clients come and go: all loops stand
// still for it.
type operator struct {
	*rig
	rnd *rand.Rand
}

// isolated makes changes and puts them into force.
func (o *operator) isolated(do func(now Tick)) {
	o.still.Lock()
	defer o.still.Unlock()
	now := o.now()
	do(now)
	o.Changed(now)
}

// waitFor looks until something has happened.
func (o *operator) waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Errorf("no end of waiting for: %s", what)
			return
		}
	}
}

// during runs the operator's rounds while the drivers' clients come and go;
// afterwards everything must be as after any other stress.
func (r *rig) during(t *testing.T, rounds int, setUp func(*driver), round func(*operator, int)) {
	t.Helper()
	o := &operator{rig: r, rnd: rand.New(rand.NewPCG(5, 6))}
	var over sync.WaitGroup
	done := make(chan struct{})
	over.Go(func() {
		defer close(done)
		all := measured()
		for i := range rounds {
			if i > 0 && i%6 == 0 && !all && o.now() > Tick(ample) { // no test has more than six different ones
				break
			}
			round(o, i)
		}
	})
	r.stress(t, 20, func(d *driver) {
		d.checked = true
		d.until, d.quota = done, 1000
		setUp(d)
	})
	over.Wait()
}

// served checks that the waiters of a loop and a virtual server are served in
// order, wherever they are sent.
func inOrder(t *testing.T) func(*driver) {
	return func(d *driver) {
		last := map[VirtualID]Tick{}
		d.granted = func(c *stressClient, v VirtualID) {
			if c.back {
				return
			}
			if c.a.Since < last[v] {
				t.Errorf("loop %d, virtual %d: %d served after %d", d.l.index, v, c.a.Since, last[v])
			}
			last[v] = c.a.Since
		}
	}
}

// C61: a member is added and removed again and again under load: nobody is
// dialled there after it was removed, nobody is lost, no limit is exceeded (its
// number is used again by a smaller one).
func TestC61AddAndRemoveUnderLoad(t *testing.T) {
	r := newRig(4, "node n limit=3\nnode m limit=2\npool p\nvirtual v\nmember A node=n limit=2")
	r.during(t, 1000/slower, inOrder(t), func(o *operator, i int) {
		var id MemberID
		limit := 1 + int64(i%3)
		o.isolated(func(now Tick) {
			c := MemberConfig{Node: NodeID(i % 2), Limit: limit, Depth: -1}
			id = o.AddMember(now, c)
			o.Members = append(o.Members[:id], c)
			g := &o.levels["member"][id]
			g.allowed.Store(limit)
			g.closed.Store(false)
		})
		o.waitFor(t, "a client at the new member", func() bool { return o.Member(id).InUse > 0 })
		o.isolated(func(now Tick) {
			o.RemoveMember(now, id)
			o.levels["member"][id].closed.Store(true)
		})
		o.waitFor(t, "the end of its last connection", func() bool { return o.Member(id).InUse == 0 })
		o.isolated(func(Tick) {
			if !o.ForgetMember(id) {
				t.Errorf("round %d: member %d can't be forgotten: %+v", i, id, o.Member(id))
			}
		})
	})
}

// C58: what is in force is set again, limits move, a virtual server goes from
// pool to pool and back, and a node that two pools share makes their homes one,
// and two again: counts, places and limits survive.
func TestC58ChangesUnderLoad(t *testing.T) {
	r := newRig(4, `
		node n limit=3
		node m limit=2
		pool p
		virtual v pool=p
		member A node=n limit=2 pool=p
		pool q
		virtual w pool=q limit=3
		member B node=m limit=2 pool=q`)
	r.during(t, 600/slower, inOrder(t), func(o *operator, i int) {
		switch i % 6 {
		case 0:
			o.isolated(func(now Tick) {
				for k, c := range o.Pools {
					o.SetPool(now, PoolID(k), c)
				}
				for k, c := range o.Virtuals {
					o.SetVirtual(now, VirtualID(k), c)
				}
			})
		case 1, 2:
			o.isolated(func(now Tick) {
				c := o.Virtuals[0]
				c.Pool = PoolID(i % 2)
				o.SetVirtual(now, 0, c)
			})
		case 3:
			o.isolated(func(now Tick) {
				c := MemberConfig{Pool: 1, Node: 0, Limit: 1, Depth: -1}
				if id := o.AddMember(now, c); id != 2 {
					t.Errorf("member %d added", id)
				}
				o.Members = append(o.Members[:2], c)
				o.levels["member"][2].allowed.Store(1)
			})
		case 4:
			o.isolated(func(now Tick) { o.RemoveMember(now, 2) })
			o.waitFor(t, "the end of its last connection", func() bool { return o.Member(2).InUse == 0 })
			o.isolated(func(Tick) { o.ForgetMember(2) })
		case 5:
			o.isolated(func(now Tick) {
				o.Pause(now, 0, true)
				o.SetPool(now, 1, PoolConfig{Queue: true, Depth: -1, Tries: 200, Fair: Prefix{uint8(i % 2 * 32), 64}, ClassAge: Tick(i)})
			})
			o.isolated(func(now Tick) {
				o.Pause(now, 0, false)
				o.SetPool(now, 1, o.Pools[1])
			})
		}
	})
}

// A member comes up again and again under load, and ramps up slowly: there are
// never more than max(1, ceil(limit*t/T)), and at its end it is all there.
func TestSlowRampUnderLoad(t *testing.T) {
	r := newRig(4, "pool p slow-ramp=200ms when-down=queue\nvirtual v\nmember A limit=10")
	g := &r.levels["member"][0]
	r.during(t, 30/min(slower, 3), func(*driver) {}, func(o *operator, i int) {
		o.isolated(func(now Tick) {
			o.SetMember(now, 0, MemberConfig{Limit: 10, Depth: -1, State: Offline})
			g.closed.Store(true)
		})
		o.waitFor(t, "the end of its connections", func() bool { return o.Member(0).InUse == 0 })
		var from Tick
		o.isolated(func(now Tick) {
			from = now
			g.closed.Store(false)
			g.ramp.Store(int64(now))
			o.SetMember(now, 0, MemberConfig{Limit: 10, Depth: -1})
		})
		o.waitFor(t, "the end of the ramp", func() bool { return o.Member(0).Ramp == 0 })
		if took := time.Duration(o.now() - from); took < rampTime/2 {
			t.Errorf("the ramp took %v", took)
		}
	})
	if r.handoffs.Load() == 0 {
		t.Error("nobody had to wait: the test shows nothing")
	}
}

// override-connection-limit: whatever else gives way, the virtual server's limit
// does not.
func TestOverrideUnderLoad(t *testing.T) {
	r := newRig(4, "pool p limit=2\nvirtual v limit=5 persist=32/128 override=on\nnode n limit=1\nmember A limit=1 node=n\nmember B limit=1")
	for _, kind := range []string{"pool", "member", "node"} {
		for i := range r.levels[kind] {
			r.levels[kind][i].allowed.Store(0)
		}
	}
	r.stress(t, 20, func(d *driver) { d.sticky, d.faults = true, true })
	if most := r.Member(0).Most; most < 2 {
		t.Errorf("at most %d at A: nobody has overridden its limit", most)
	}
}

// Many first connections of one source in the same instant, on many loops: all
// go to one member, be there slots for all of them or not.
func TestFirstConnectionsAtOnce(t *testing.T) {
	for _, limit := range []string{"0", "20"} {
		const loops = 4
		c := newCrew(t, loops, "pool p\nvirtual v persist=32/128\nmember A limit="+limit+"\nmember B limit="+limit+"\nmember C limit="+limit)
		n := rounds / 10
		if *long {
			n = rounds
		}
		waited, came := 0, 0
		for round := range some(n / sources) {
			waited += c.firstConnections(t, round*sources)
			came += sources * loops
		}
		t.Logf("limit %s: %d of %d had to wait for the member of another one", limit, waited, came)
	}
}

// sources is how many come in one go, so that the loops meet at some of them.
const sources = 50

// firstConnections has each loop get a first connection from each of the same
// sources at the same time, and returns how many had to wait.
func (c *crew) firstConnections(t *testing.T, from int) (waited int) {
	members := make([]map[MemberID]bool, sources)
	for i := range members {
		members[i] = map[MemberID]bool{}
	}
	var got [4][sources]Verdict
	job := func(l *Loop) {
		for i := range sources {
			a := Attempt{Since: c.now + Tick(i*4+l.index), Source: sender(from + i)}
			got[l.index][i] = l.Arrive(c.now, 0, uint32(i), a)
		}
	}
	c.now += 4 * sources
	c.together(job, job, job, job)
	left := 4 * sources
	goes := func(loop, i int, p Path) {
		members[i][p.Member] = true
		left--
		c.Loop(loop).Release(c.now, p)
	}
	for loop := range got {
		for i, v := range got[loop] {
			if v.Kind == Proceed {
				goes(loop, i, v.Path)
			}
		}
	}
	for loop := 0; left > 0; loop = (loop + 1) % 4 {
		for o, ok := c.next(loop); ok; o, ok = c.next(loop) {
			waited++
			goes(loop, int(o.Conn), o.Path)
		}
	}
	for i, m := range members {
		if len(m) != 1 {
			t.Fatalf("source %d: clients at members %v", from+i, m)
		}
	}
	return waited
}

// next returns the next outcome of a loop.
func (c *crew) next(loop int) (Outcome, bool) {
	l := c.Loop(loop)
	if l.Due() == 1 {
		l.Run(c.now)
	}
	return l.Next()
}

// A member goes offline in the moment in which its slot passes to one persisted
// to it: who is sent there all the same must not dial, and ends up at the other
// member; the slot is not lost.
func TestOfflineAtTheHandOver(t *testing.T) {
	for _, persisted := range []Sticky{0, 1} {
		c := newCrew(t, 3, "pool p\nvirtual v\nmember A limit=1\nmember B limit=1 state=offline")
		withdrawn, all := 0, 0
		for range some(rounds / 4) {
			all++
			x := c.holder(t, 0)
			a := Attempt{Since: c.now}
			y := c.Loop(1).arriveAs(c.now, 0, persisted, 7, a)
			if y.Kind != Wait {
				t.Fatalf("%+v, want to wait", y)
			}
			c.together(
				func(l *Loop) { l.Release(c.now, x) },
				func(l *Loop) { l.SetMemberUp(c.now, 1, true) },
				func(l *Loop) { l.SetMemberState(c.now, 1, Enabled); l.SetMemberState(c.now, 0, Offline) },
			)
			o := c.only(t, 7)
			if !c.Loop(1).Usable(o.Path) {
				withdrawn++
				if v := c.Loop(1).Withdraw(c.now, o.Path, 7, &a); v.Kind != Wait {
					t.Fatalf("%+v withdrawn", v)
				}
				o = c.only(t, 7)
			}
			if o.Reason != NotRefused || o.Path.Member != 1 {
				t.Fatalf("%+v, want B", o)
			}
			c.expectLoad(t, 1, 0)
			c.Loop(1).Release(c.now, o.Path)
			c.expectLoad(t, 0, 0)
			c.Loop(0).SetMemberState(c.now, 0, Enabled)
			c.Loop(0).SetMemberState(c.now, 1, Offline)
		}
		t.Logf("persisted %d: withdrawn %d of %d times", persisted, withdrawn, all)
	}
}
