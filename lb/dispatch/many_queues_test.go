package dispatch

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func clientNo(i int) Source {
	return SourceOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
}

// restless runs a loop until it is at rest, and fails if that takes long.
func restless(t *testing.T, l *Loop, now Tick) {
	t.Helper()
	for range 100 {
		if l.Due() != 1 {
			return
		}
		l.Run(now)
	}
	t.Fatal("never at rest")
}

// More queues than a pass has budget, all of members that are full: the slot
// that frees finds its waiter, wherever its queue stands, and then there is rest.
func TestMoreQueuesThanBudget(t *testing.T) {
	const n = passBudget + 100
	var b strings.Builder
	b.WriteString("pool p\nvirtual v\n")
	for i := range n {
		fmt.Fprintf(&b, "member m%d limit=1\n", i)
	}
	d := New(mustTopology(1, b.String()).Config, func(int) {})
	l := d.Loop(0)
	var paths []Path
	for i := range n {
		paths = append(paths, l.arriveAs(start, 0, Sticky(i+1), uint32(i), Attempt{Since: start}).Path)
	}
	for i := range n {
		at := start + Tick(i)
		if v := l.arriveAs(at, 0, Sticky(i+1), uint32(i), Attempt{Since: at}); v.Kind != Wait {
			t.Fatalf("%+v", v)
		}
	}
	restless(t, l, start+n)
	for _, i := range []int{n - 1, 0, n / 2} {
		l.Release(start+n, paths[i])
		restless(t, l, start+n)
		if o, ok := l.Next(); !ok || o.Conn != uint32(i) {
			t.Fatalf("slot of member %d: %+v, %v", i, o, ok)
		}
	}
}

// Hundreds of flows whose heads can't be served, in three classes and of two
// virtual servers of which one is full: a release costs no try of each.
func TestManyFlowsComeToRest(t *testing.T) {
	d := New(mustTopology(1, "pool p fair=32/64\nvirtual a limit=1\nvirtual b class=1\nvirtual c class=2\nmember A limit=3").Config, func(int) {})
	l := d.Loop(0)
	var paths []Path
	for i := range 3 {
		paths = append(paths, l.Arrive(start, VirtualID(i), 0, Attempt{Since: start, Source: clientNo(1)}).Path)
	}
	for i := range 3000 {
		at := start + Tick(i)
		l.Arrive(at, VirtualID(i%3), uint32(i+1), Attempt{Since: at, Source: clientNo(i)})
	}
	now := start + 3000
	restless(t, l, now)
	for i := range 100 {
		l.Release(now, paths[1])
		restless(t, l, now)
		o, ok := l.Next()
		if !ok || o.Path.Virtual == 0 {
			t.Fatalf("release %d: %+v, %v", i, o, ok)
		}
		paths[1] = o.Path
	}
}

// What a member has counted is counted once, before and after it is forgotten.
func TestForgottenMemberIsCountedOnce(t *testing.T) {
	d := New(mustTopology(1, "pool p\nvirtual v\nmember A limit=1\nmember B limit=1").Config, func(int) {})
	l := d.Loop(0)
	a := l.arriveAs(start, 0, 1, 0, Attempt{Since: start})
	l.arriveAs(start, 0, 1, 1, Attempt{Since: start})
	l.Release(start, a.Path)
	o, _ := l.Next()
	l.Release(start, o.Path)
	for i, step := range []func(){
		func() {},
		func() { d.RemoveMember(start, 0); d.Changed(start) },
		func() {
			if !d.ForgetMember(0) {
				t.Error("not forgotten")
			}
		},
		d.Publish,
		func() { d.Changed(start) },
	} {
		step()
		if n := d.PoolQueueAll(0).Serviced.Load(); n != 1 {
			t.Errorf("step %d: serviced %d, want 1", i, n)
		}
	}
}

// A member that was removed has no head, though its connections go on.
func TestRemovedMemberHasNoHead(t *testing.T) {
	d := New(mustTopology(1, "pool p\nvirtual v\nmember A limit=1\nmember B limit=1").Config, func(int) {})
	l := d.Loop(0)
	l.arriveAs(start, 0, 1, 0, Attempt{Since: start})
	l.arriveAs(start, 0, 1, 1, Attempt{Since: start})
	d.RemoveMember(start, 0)
	d.Changed(start)
	if _, ok := l.Next(); !ok {
		t.Error("its waiter did not go to the other member")
	}
	if h := d.PoolQueueAll(0).Head.Load(); h != 0 {
		t.Errorf("nobody waits, and the oldest is of %d", h)
	}
}

// A member's number is not used again while queue entries name it.
func TestNumberStaysWhileEntriesNameIt(t *testing.T) {
	d := New(mustTopology(1, "pool p limit=1\nvirtual v\nmember A limit=5\nmember B limit=5").Config, func(int) {})
	l := d.Loop(0)
	l.arriveAs(start, 0, 2, 0, Attempt{Since: start})
	for i := range 3 * passBudget {
		at := start + Tick(i)
		if v := l.arriveAs(at, 0, 1, uint32(i), Attempt{Since: at}); v.Kind != Wait {
			t.Fatalf("%+v", v)
		}
	}
	restless(t, l, start)
	d.RemoveMember(start, 0)
	d.Changed(start)
	if d.ForgetMember(0) {
		t.Error("forgotten while a queue is named after it")
	}
	restless(t, l, start)
	if !d.ForgetMember(0) {
		t.Error("not forgotten when its waiters had gone to the pool's queue")
	}
}

// The entries of waiters who left hold no number.
func TestNumberIsFreeWhenItsWaitersHaveLeft(t *testing.T) {
	d := New(mustTopology(1, "pool p limit=1\nvirtual v\nmember A limit=5\nmember B limit=5").Config, func(int) {})
	l := d.Loop(0)
	l.arriveAs(start, 0, 2, 0, Attempt{Since: start})
	w := l.arriveAs(start, 0, 1, 1, Attempt{Since: start}).Waiter
	d.Pause(start, 0, true) // or else the pass moves it to the pool's queue
	d.RemoveMember(start, 0)
	d.Changed(start)
	if d.ForgetMember(0) {
		t.Fatal("forgotten while somebody stands in its queue")
	}
	l.table.move(w.Slot, w.Gen, mkState(0, 0, gone)) // it leaves; no pass has looked since
	d.uncount(d.virtuals[0], mkState(w.Gen, 0, waiting))
	if !d.ForgetMember(0) {
		t.Error("not forgotten, though nobody stands there")
	}
	l.table.release(w.Slot)
}

// Nobody is persisted without records: nobody overrides a limit.
func TestNoOverrideWithoutPersistence(t *testing.T) {
	d := New(mustTopology(1, "pool p mode=source-hash persist-wait=10s limit=2\nvirtual v override=on\nmember A limit=1\nmember B limit=1").Config, func(int) {})
	l := d.Loop(0)
	for i := range 20 {
		at := start + Tick(i)
		l.Arrive(at, 0, uint32(i), Attempt{Since: at, Source: clientNo(i)})
	}
	if n := d.Pool(0).InUse; n > 2 {
		t.Errorf("%d in use, limit 2", n)
	}
}

// Who waits in a pool that is removed is refused at once: no member will come.
func TestRemovedPoolSendsItsWaitersAway(t *testing.T) {
	d := New(mustTopology(1, "pool p when-down=queue\nvirtual v\nmember A limit=1").Config, func(int) {})
	l := d.Loop(0)
	path := l.arriveAs(start, 0, 0, 0, Attempt{Since: start}).Path
	l.arriveAs(start, 0, 0, 1, Attempt{Since: start})
	d.RemoveVirtual(start, 0)
	d.RemovePool(start, 0)
	d.Changed(start)
	if o, ok := l.Next(); !ok || o.Reason != NoMember {
		t.Errorf("%+v, %v", o, ok)
	}
	l.Release(start, path)
	if !d.ForgetMember(0) || !d.ForgetVirtual(0) {
		t.Error("not forgotten")
	}
}

// A member that was forgotten has no number any more, though its pool still lists
// it until the series ends: when the pool is removed, who has the number since stays.
func TestRemovedPoolHadAForgottenMember(t *testing.T) {
	for _, reused := range []bool{false, true} {
		d := New(mustTopology(1, "pool p\nvirtual v pool=p\nmember A pool=p\nmember B pool=p\npool q\nvirtual w pool=q\nmember C pool=q").Config, func(int) {})
		d.RemoveMember(start, 0)
		if !d.ForgetMember(0) {
			t.Fatal("not forgotten")
		}
		if reused {
			if id := d.AddMember(start, MemberConfig{Pool: 1, Depth: -1}); id != 0 {
				t.Fatalf("the new member is %d", id)
			}
		}
		d.RemoveVirtual(start, 0)
		d.RemovePool(start, 0)
		d.Changed(start)
		if reused && d.Member(0).Removed {
			t.Error("another pool's member is removed")
		}
		if !d.Member(1).Removed || d.Member(2).Removed {
			t.Errorf("B %+v, C %+v", d.Member(1), d.Member(2))
		}
	}
}

// A member that comes back before its last connection has ended is the same
// one: its limit holds for both.
func TestRevivedMemberKeepsItsConnections(t *testing.T) {
	d := New(mustTopology(1, "pool p when-down=queue\nvirtual v\nmember A limit=2").Config, func(int) {})
	l := d.Loop(0)
	var paths []Path
	for range 2 {
		paths = append(paths, l.arriveAs(start, 0, 0, 0, Attempt{Since: start}).Path)
	}
	l.arriveAs(start, 0, 0, 1, Attempt{Since: start})
	d.RemoveMember(start, 0)
	d.Changed(start)
	d.ReviveMember(start, 0, MemberConfig{Limit: 2, Depth: -1})
	d.Changed(start)
	if o, ok := l.Next(); ok {
		t.Fatalf("%+v got in over the limit", o)
	}
	l.Release(start, paths[0])
	o, ok := l.Next()
	if !ok || d.Member(0).InUse != 2 {
		t.Fatalf("a slot is free: %+v, %v", o, ok)
	}
	l.Release(start, paths[1])
	l.Release(start, o.Path)
	if n := d.Member(0).InUse; n != 0 {
		t.Errorf("%d in use at the end", n)
	}
}

// A head that has just left may have given its place in the table to somebody
// of another home: only the race detector sees what goes wrong then.
func TestHeadsOfOtherHomes(t *testing.T) {
	d := New(mustTopology(2, "pool p\nvirtual v\nmember A limit=1\npool q\nvirtual w\nmember Q limit=1\nmember R limit=1").Config, func(int) {})
	d.Loop(0).arriveAs(start, 0, 0, 0, Attempt{Since: start})
	d.Loop(0).arriveAs(start, 1, 2, 0, Attempt{Since: start})
	visit := func(l *Loop, v VirtualID, s Sticky, at Tick) {
		x := l.arriveAs(at, v, s, 1, Attempt{Since: at})
		l.Leave(at, x.Waiter, at)
		if l.Due() == 1 {
			l.Run(at)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range Tick(20_000) {
			visit(d.Loop(1), 0, 0, start+i)
			visit(d.Loop(1), 1, 2, start+i)
		}
	}()
	for i := range Tick(20_000) {
		visit(d.Loop(0), 0, 0, start+i)
	}
	<-done
	if n := d.Pool(0).Waiting + d.Pool(1).Waiting; n != 0 {
		t.Errorf("%d wait at the end", n)
	}
}
