package cases

import (
	"testing"
	"time"
)

// A member that its monitor finds down: with service-down-action=reset its
// connections end, and who waited for their slots is served, by another.
func TestC12DownMemberReleases(t *testing.T) {
	t.Parallel()
	a := newPatient(t, "A")
	b := newPatient(t, "B")
	p := setup{
		loops: 1, // A is first
		// A stall may make B down for a moment, too: then the waiter waits.
		pool: patiently + ",connection-limit=1,service-down-action=reset,when-down=queue", members: []string{a.addr, b.addr},
	}.start(t)
	c := p.connect()
	c.say("holder\n")
	v := a.guest(patience)
	waiter := p.guests(1, 1)[0]
	p.awaitDepth(1)
	await(t, patience, "a good check", func() bool { return a.good.Load() > 0 })
	a.ill.Store(true)
	changed := time.Now()
	p.setPool("monitor-timeout", "3s") // it begins afresh, for B too, which a shorter stall than that does not make down
	c.refused(patience)
	told := time.Now()
	w := b.guest(atOnce)
	between(t, "the waiter is served", max(0, w.at.Sub(told)), 0, 100*time.Millisecond)
	between(t, "down", told.Sub(changed), 3*time.Second, 3200*time.Millisecond) // monitor-timeout and an interval
	w.end()
	v.end()
	waiter.Close()
}

// Without it they stay, and get all their bytes.
func TestDownMemberKeepsConnections(t *testing.T) {
	t.Parallel()
	a := newPatient(t, "A")
	p := setup{pool: patiently, members: []string{a.addr}}.start(t)
	c := p.connect()
	c.say("holder\n")
	v := a.guest(patience)
	p.falls(a)
	v.greet()
	c.served(patience)
	c.say("more\n")
	if text, err := v.line(); text != "more" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	v.end()
	c.Close()
}

// reselect: those over which nothing has gone yet either way go to another,
// the others are reset.
func TestDownMemberReselects(t *testing.T) {
	t.Parallel()
	a, b := newPatient(t, "A"), newPatient(t, "B")
	p := setup{
		pool:    patiently + ",service-down-action=reselect,min-active-members=1",
		members: []string{a.addr + ",priority-group=1", b.addr},
	}.start(t)
	used, fresh := p.connect(), p.connect()
	used.say("used\n")
	v := a.guest(patience)
	await(t, patience, "two clients of A", func() bool { return p.member(a.server).Connections.Current == 2 })
	p.falls(a)
	used.refused(patience)
	await(t, patience, "the other is on B", func() bool { return p.member(b.server).Connections.Current == 1 })
	fresh.say("fresh\n")
	w := b.guest(patience)
	w.greet()
	if w.began != "fresh" || fresh.served(patience) != "B" {
		t.Errorf("B read %q", w.began)
	}
	w.end()
	v.end()
	used.Close()
	fresh.Close()
}

// A member that takes nobody gets nobody from the common queue, whichever way
// it came to that.
func TestC32TakesNobodyFromTheQueue(t *testing.T) {
	for _, way := range []struct {
		name      string
		out, back func(p *proxy, b *patient)
	}{
		{"disabled", func(p *proxy, b *patient) { p.state(b.server, "disabled") }, enable},
		{"offline", func(p *proxy, b *patient) { p.state(b.server, "offline") }, enable},
		{"down", (*proxy).falls, (*proxy).recovers},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a, b := newPatient(t, "A"), newPatient(t, "B")
			p := setup{pool: patiently, members: []string{a.limit(1), b.limit(2)}}.start(t)
			p.guests(0, 3)
			v := a.guest(patience)
			there := []*visit{b.guest(patience), b.guest(patience)}
			p.guests(3, 5)
			p.awaitDepth(5)
			way.out(p, b)
			for _, v := range there {
				v.end()
			}
			await(t, patience, "B is empty", func() bool { return p.inUse() == 1 })
			v.end()
			v = a.guest(patience)
			b.noGuest(200 * time.Millisecond)
			if n := p.depth(); n != 4 {
				t.Errorf("%d wait; want 4", n)
			}
			way.back(p, b)
			there = []*visit{b.guest(atOnce), b.guest(atOnce)}
			v.end()
			a.guest(patience).end()
			there[0].end()
			b.guestOf(a).end()
			there[1].end()
		})
	}
}

func enable(p *proxy, b *patient) { p.state(b.server, "enabled") }

// guestOf returns the next client of either.
func (s *patient) guestOf(other *patient) *visit {
	s.t.Helper()
	select {
	case v := <-s.guests:
		return v
	case v := <-other.guests:
		return v
	case <-time.After(patience):
		s.t.Fatal("nobody came")
		return nil
	}
}

// Waiters follow the active priority group.
func TestC33WaitersFollowTheGroup(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	b := listen(t, "B", nil)
	p := setup{
		pool:    "min-active-members=1",
		members: []string{a.limit(1) + ",priority-group=10", b.limit(1) + ",priority-group=5"},
	}.start(t)
	p.polite(1)
	v := a.next(patience)
	second := p.polite(1)[0]
	w := b.next(patience)
	between(t, "the second is on B", w.at.Sub(second.at), 0, 100*time.Millisecond)
	for i := range 3 {
		p.polite(1)[0].say(itoa(i) + "\n")
		p.awaitDepth(i + 1)
	}
	p.state(a, "offline")
	b.nobody(50 * time.Millisecond)
	for i := range 3 {
		w.end()
		w = b.next(atOnce)
		if text, _ := w.line(); text != itoa(i) {
			t.Errorf("B got %q; want %d", text, i)
		}
	}
	w.end()
	v.end()
	a.nobody(0)
}

// While the higher group is enough, the lower one gets nobody.
func TestLowerGroupRests(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	b := listen(t, "B", hold)
	p := setup{
		pool:    "min-active-members=1",
		members: []string{a.limit(3) + ",priority-group=10", b.limit(3) + ",priority-group=5"},
	}.start(t)
	for i, want := range []string{"A", "A", "A", "B", "B", "B"} {
		if name := p.connect().served(patience); name != want {
			t.Errorf("client %d got to %s; want %s", i, name, want)
		}
	}
	p.tidy = false
}

// Waiters whose last member goes: when-down decides.
func TestC35LastMemberGoes(t *testing.T) {
	t.Parallel()
	t.Run("refuse", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", nil)
		p := setup{pool: "when-down=refuse", members: []string{a.limit(1)}}.start(t)
		v := p.fill(a, 1)[0]
		waiting := p.connectMany(5)
		p.awaitDepth(5)
		start := time.Now()
		p.state(a, "offline")
		for _, c := range waiting {
			c.refused(atOnce)
		}
		between(t, "refused", time.Since(start), 0, 100*time.Millisecond)
		if got := codes(p.awaitLog(5)); got["DN"] != 5 {
			t.Errorf("codes %v; want DN five times", got)
		}
		v.end()
		a.nobody(20 * time.Millisecond)
	})
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", nil)
		p := setup{pool: "when-down=queue", members: []string{a.limit(1)}}.start(t)
		v := p.fill(a, 1)[0]
		for i := range 5 {
			p.polite(1)[0].say(itoa(i) + "\n")
			p.awaitDepth(i + 1)
		}
		p.state(a, "offline")
		v.end()
		a.nobody(time.Second)
		if n := p.depth(); n != 5 {
			t.Errorf("%d wait; want 5", n)
		}
		p.state(a, "enabled")
		for i := range 5 {
			v := a.next(atOnce)
			if text, _ := v.line(); text != itoa(i) {
				t.Errorf("served %q; want %d", text, i)
			}
			v.end()
		}
		if a.most.Load() != 1 {
			t.Errorf("most %d", a.most.Load())
		}
	})
}

// One failed check turns no member off: only a whole monitor-timeout without a
// good one does, and the first good one turns it on.
func TestC36DownAfterTimeoutOnly(t *testing.T) {
	t.Parallel()
	const interval = 100 * time.Millisecond // a small part of the timeout, or a stall between two good checks is one
	timeout := time.Duration(count(2, 4)) * time.Second
	a := newPatient(t, "A")
	p := setup{
		pool:    "monitor=http,monitor-interval=" + interval.String() + ",monitor-timeout=" + timeout.String(),
		members: []string{a.limit(1)},
	}.start(t)
	changes := func() int { return p.linesWith("monitor: member") }
	for end := time.Now().Add(2 * timeout); time.Now().Before(end); {
		n := a.checks.Load()
		a.ill.Store(n%2 == 0) // every second one
		await(t, patience, "a check", func() bool { return a.checks.Load() > n })
		if s := p.member(a.server).State; s != "enabled" {
			t.Fatalf("state %s", s)
		}
	}
	if n := changes(); n != 0 {
		t.Errorf("%d changes of state", n)
	}
	n := a.checks.Load()
	a.ill.Store(false)
	await(t, patience, "a good check", func() bool { return a.checks.Load() > n })
	a.ill.Store(true)
	await(t, patience, "down", func() bool { return p.member(a.server).State == "down" })
	down := time.Duration(moment() - a.good.Load())
	between(t, "down", down, timeout, timeout+interval)
	p.guests(0, 1)
	p.awaitDepth(1)
	p.recovers(a)
	between(t, "up", time.Duration(moment()-a.well.Load()), 0, 100*time.Millisecond)
	a.guest(atOnce).end()
	await(t, patience, "both changes are logged", func() bool { return changes() >= 2 })
	if n := changes(); n != 2 {
		t.Errorf("%d changes of state are logged; want 2", n)
	}
}
