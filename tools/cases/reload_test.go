package cases

import (
	"strings"
	"testing"
	"time"
)

// A reload keeps counts, waiters and places.
func TestC58ReloadKeepsPlaces(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	s := setup{members: []string{a.limit(1)}}
	p, f := filed(t, s.objects(), setup{})
	v := p.fill(a, 1)[0]
	for i := range 4 {
		p.polite(1)[0].say(itoa(i) + "\n")
		p.awaitDepth(i + 1)
	}
	p.hangUp("flag file applied")
	b := listen(t, "B", nil)
	p.reload(f, s.objects()+"-node "+home(false)+",connection-limit=50\n-pool q\n-member "+b.limit(7)+",pool=q\n")
	a.nobody(50 * time.Millisecond)
	if p.depth() != 4 || p.inUse() != 1 {
		t.Errorf("depth %d, in use %d; want 4 and 1", p.depth(), p.inUse())
	}
	for i := range 4 {
		v.end()
		v = a.next(atOnce)
		if text, _ := v.line(); text != itoa(i) {
			t.Errorf("served %q; want %d", text, i)
		}
		if i == 1 { // and in the middle of it
			p.reload(f, s.objects())
		}
	}
	v.end()
	if n := a.most.Load(); n != 1 {
		t.Errorf("most %d", n)
	}
}

// A bad file changes nothing and says why, each mistake in a line; then a good
// one is applied, however often that happens.
func TestC59BadFileChangesNothing(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	s := setup{members: []string{a.limit(1)}}
	p, f := filed(t, s.objects(), setup{grumbles: true})
	for round := range 10 {
		limit := round + 2
		bad := setup{members: []string{a.limit(limit)}, pool: "color=red"}.objects() +
			"-member 127.0.0.1:1,pool=nowhere\n-node 300.1.1.1\n"
		f.write(bad)
		before := p.linesWith("nothing is changed")
		p.hangUp("nothing is changed")
		await(t, patience, "three lines", func() bool { return p.linesWith("nothing is changed") == before+3 })
		p.works(a, round+1)
		p.reload(f, setup{members: []string{a.limit(limit)}}.objects())
		p.works(a, limit)
	}
	for _, word := range []string{"color", "nowhere", "300.1.1.1"} {
		if n := p.linesWith(word); n != 10 {
			t.Errorf("%d lines name %s; want 10", n, word)
		}
	}
	if !strings.Contains(p.awaitLine("color"), f.path) {
		t.Error("the file is not named")
	}
}

// works says that the server has a limit of n: n are served, and one waits.
func (p *proxy) works(a *server, n int) {
	p.t.Helper()
	in := p.fill(a, n)
	p.polite(1)
	p.awaitDepth(1)
	in[0].end()
	in[0] = a.next(patience)
	for _, v := range in {
		v.end()
	}
	await(p.t, patience, "nobody is there", func() bool { return p.inUse() == 0 })
	a.nobody(0)
}

// Objects come and go with the file: a virtual server with its pool is there
// at once, and when it goes what is connected stays.
func TestReloadAddsAndRemoves(t *testing.T) {
	t.Parallel()
	a, b := listen(t, "A", nil), listen(t, "B", nil)
	s := setup{members: []string{a.limit(1)}}.objects()
	p, f := filed(t, s, setup{})
	more := "-virtual w,listen=127.0.0.1:0,pool=q\n-pool q,monitor=none\n-member " + b.limit(1) + ",pool=q\n"
	p.reload(f, s+more)
	w := &proxy{t: t, addr: fields(p.awaitLine("virtual=w"))["address"]}
	c := w.connect()
	v := b.next(patience)
	waits := w.connect()
	await(t, patience, "it waits", func() bool { return p.metric(`penstock_pool_connq_depth{pool="q"}`) == 1 })
	w.keepPort()
	p.reload(f, s)
	await(t, atOnce, "it listens no more", func() bool { return !w.listens() })
	v.greet()
	c.served(patience)
	c.say("still there\n")
	if text, _ := v.line(); text != "still there" {
		t.Errorf("the server read %q", text)
	}
	v.end()
	if how, _ := c.ends(patience); how != byFIN {
		t.Errorf("ended by %s", how)
	}
	c.Close()
	waits.Close()
	await(t, patience, "nobody is there", func() bool { b.drain(); return p.metric("penstock_descriptors") == 0 })
	p.works(a, 1)
}

// drain ends who still comes.
func (s *server) drain() {
	for len(s.came) > 0 {
		(<-s.came).end()
	}
}

// What PATCH changed and the file says otherwise goes back to the file's word.
func TestReloadIsTheTruth(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p, _ := filed(t, setup{members: []string{a.limit(2)}}.objects(), setup{})
	p.setMember(a, "connection-limit", "5")
	p.works(a, 5)
	p.hangUp("flag file applied")
	p.works(a, 2)
}
