package cases

import (
	"testing"
	"time"
)

// sticky is the address of clients that belong to one member.
const sticky = "127.0.1.1"

// stuck starts a proxy with two members, one of them full: with clients from
// the sticky address, who belong to it. It returns that member first.
func stuck(t *testing.T, virtual, pool string, limitA, limitB int) (p *proxy, a, b *server, in []*visit) {
	t.Helper()
	a = listen(t, "A", nil)
	b = listen(t, "B", nil)
	p = setup{
		virtual: merge("persist=source", virtual), pool: pool, loops: 1, // round-robin begins at A
		members: []string{a.limit(limitA), b.limit(limitB)},
	}.start(t)
	for range limitA {
		p.politeFrom(sticky)
		in = append(in, a.next(patience))
	}
	return p, a, b, in
}

// A member's own queue does not go before the common one: the older of the two
// heads is served.
func TestC17OlderOfTheTwoHeads(t *testing.T) {
	t.Parallel()
	a := newGuestBook(t, 5*time.Millisecond)
	p := setup{virtual: "persist=source", members: []string{a.limit(1)}}.start(t)
	holder := p.from(sticky)
	await(t, patience, "a holder", func() bool { return a.total.Load() == 1 })
	for i := range 20 {
		source := sticky
		if i == 9 {
			source = "127.0.1.2"
		}
		p.politeFrom(source).say(itoa(i+1) + "\n")
		p.awaitAll(i + 1)
		time.Sleep(10 * time.Millisecond)
	}
	holder.say("0\n")
	holder.ends(patience)
	holder.Close()
	await(t, patience, "all served", func() bool { return len(a.served()) == 21 })
	if order := a.served(); inversions(order) != 0 || order[10] != 10 {
		t.Errorf("order %v", order)
	}
	if a.most.Load() != 1 {
		t.Errorf("most %d", a.most.Load())
	}
}

// With persist-wait a client waits for its member that long, and then for any,
// at the ticket it has.
func TestC37PersistWait(t *testing.T) {
	t.Parallel()
	const wait = 3 * time.Second // the second has to come before the first one has moved, also on a machine that stalls
	p, a, b, in := stuck(t, "", "persist-wait="+wait.String(), 1, 1)
	first := p.politeFrom(sticky)
	first.say("first\n")
	p.awaitAll(1)
	p.politeFrom(sticky).say("second\n")
	v := b.next(patience)
	between(t, "the first is on B", v.at.Sub(first.at), wait, wait+50*time.Millisecond)
	if text, _ := v.line(); text != "first" {
		t.Errorf("B got %q", text)
	}
	await(t, patience, "both have moved", func() bool { return p.member(a).Moved == 2 })
	b.nobody(50 * time.Millisecond)
	v.end()
	v = b.next(atOnce)
	if text, _ := v.line(); text != "second" {
		t.Errorf("B got %q", text)
	}
	v.end()
	in[0].end()
}

// Without persist-wait it waits for its member only.
func TestC37WaitsForItsMember(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "", "", 1, 1)
	p.politeFrom(sticky)
	p.politeFrom(sticky)
	p.awaitAll(2)
	b.nobody(600 * time.Millisecond)
	v := in[0]
	for range 2 {
		v.end()
		v = a.next(patience)
	}
	v.end()
	b.nobody(20 * time.Millisecond)
}

// Limits hold for sticky clients, too.
func TestC38LimitHoldsForSticky(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "", "", 2, 10)
	for range 3 {
		p.politeFrom(sticky)
	}
	p.awaitAll(3)
	a.nobody(50 * time.Millisecond)
	b.nobody(0)
	for range 3 {
		in[0].end()
		in = append(in[1:], a.next(patience))
	}
	in[0].end()
	in[1].end()
	if n := a.most.Load(); n != 2 {
		t.Errorf("most %d", n)
	}
}

// Unless override-connection-limit lets them in; the virtual server's own
// limit stays hard.
func TestC38Override(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 4} {
		t.Run("virtual limit "+itoa(limit), func(t *testing.T) {
			t.Parallel()
			keys := "override-connection-limit=on,connection-limit=" + itoa(limit)
			p, a, b, in := stuck(t, keys, "", 2, 10)
			for range 3 {
				p.politeFrom(sticky)
			}
			most := 5
			if limit > 0 {
				most = limit
			}
			for len(in) < most {
				in = append(in, a.next(patience))
			}
			p.awaitAll(5 - most)
			a.nobody(50 * time.Millisecond)
			for range 5 - most {
				in[0].end()
				in = append(in[1:], a.next(patience))
			}
			for _, v := range in {
				v.end()
			}
			if n := a.most.Load(); n != int64(most) {
				t.Errorf("most %d; want %d", n, most)
			}
			b.nobody(0)
		})
	}
}

// A member that drains gets no sticky clients: they go to another, and belong
// to that.
func TestC39DrainingMovesSticky(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "", "", 1, 2)
	for i, name := range []string{"first", "second"} {
		p.politeFrom(sticky).say(name + "\n")
		p.awaitAll(i + 1)
	}
	start := time.Now()
	p.state(a, "offline")
	var there []*visit
	for _, name := range []string{"first", "second"} {
		v := b.next(patience)
		if text, _ := v.line(); text != name {
			t.Errorf("B got %q; want %s", text, name)
		}
		there = append(there, v)
	}
	between(t, "both are on B", time.Since(start), 0, 100*time.Millisecond)
	for _, v := range there {
		v.end()
	}
	in[0].end()
	await(t, patience, "nobody is there", func() bool { return p.inUse() == 0 })
	p.state(a, "enabled")
	for range 3 {
		p.politeFrom(sticky)
		b.next(patience).end()
		await(t, patience, "it has left", func() bool { return p.inUse() == 0 })
	}
	a.nobody(0)
}

// The waiters of a member that goes offline move to the pool's queue at their
// tickets, and obey limits there; the member's connections never rise.
func TestC40OfflineMovesWaiters(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "", "", 1, 1)
	for i := range 3 {
		p.politeFrom(sticky).say(itoa(i) + "\n")
		p.awaitAll(i + 1)
	}
	p.state(a, "offline")
	v := b.next(atOnce)
	b.nobody(50 * time.Millisecond)
	if n := p.waitingAll(); n != 2 {
		t.Errorf("%d wait; want 2", n)
	}
	in[0].end() // A takes nobody in its place
	a.nobody(50 * time.Millisecond)
	for i := range 3 {
		if text, _ := v.line(); text != itoa(i) {
			t.Errorf("B got %q; want %d", text, i)
		}
		v.end()
		if i < 2 {
			v = b.next(patience)
		}
	}
	if a.most.Load() != 1 || b.most.Load() != 1 {
		t.Errorf("most %d and %d; want 1", a.most.Load(), b.most.Load())
	}
}

// Who waits for a member does not hold up those who may go elsewhere.
func TestC41StickyHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "", "", 1, 10)
	p.politeFrom(sticky)
	p.awaitAll(1)
	start := time.Now()
	for i := range 10 {
		p.politeFrom("127.0.2." + itoa(i+1))
	}
	for range 10 {
		b.next(patience).end()
	}
	between(t, "all are on B", time.Since(start), 0, 100*time.Millisecond)
	for _, line := range p.awaitLog(10) {
		if line.span("wait") > slack+stalled(start) {
			t.Errorf("it waited: %v", line)
		}
	}
	in[0].end()
	a.next(patience).end()
}

// A record is of the first bits of an address.
func TestPersistencePrefix(t *testing.T) {
	t.Parallel()
	p, a, b, in := stuck(t, "persist=source/24", "", 1, 10)
	in[0].end()
	for i := range 5 {
		await(t, patience, "A is free", func() bool { return p.member(a).Connections.Current == 0 })
		p.politeFrom("127.0.1." + itoa(i+10))
		a.next(patience).end()
	}
	b.nobody(0)
}

// It ends persist-timeout after the last connection.
func TestPersistenceTimeout(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	p, a, b, in := stuck(t, "persist-timeout="+timeout.String(), "", 1, 10)
	in[0].end()
	await(t, patience, "A is free", func() bool { return p.member(a).Connections.Current == 0 })
	last := p.politeFrom(sticky)
	await(t, patience, "it is served", func() bool { return len(a.came)+len(b.came) > 0 })
	a.drain()
	b.drain()
	await(t, patience, "no record", func() bool { return p.records() == 0 })
	between(t, "no record", time.Since(last.at), timeout, timeout+100*time.Millisecond)
	for p.politeFrom(sticky); ; p.politeFrom(sticky) { // round-robin again
		await(t, patience, "somebody gets it", func() bool { return len(a.came)+len(b.came) > 0 })
		if len(b.came) > 0 {
			b.next(patience).end()
			return
		}
		a.next(patience).end()
		await(t, patience, "no record", func() bool { return p.records() == 0 })
		if a.total.Load() > 20 {
			t.Fatal("there is no record, and B gets nobody")
		}
	}
}

// records counts the clients that belong to a member.
func (p *proxy) records() int {
	p.t.Helper()
	return int(p.metric(`penstock_virtual_persistence_records{virtual="v"}`))
}
