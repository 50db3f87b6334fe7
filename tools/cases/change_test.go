package cases

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A member that goes and comes back under load never gets more than its limit.
func TestC02LimitHoldsThroughOutages(t *testing.T) {
	t.Parallel()
	limit, clients, outages := count(20, 100), count(100, 1000), count(15, 50)
	a := listen(t, "A", lasting(20*time.Millisecond)) // so that it is full all the time
	p := setup{members: []string{a.limit(limit)}, pool: "when-down=queue"}.start(t)
	var over atomic.Bool
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for !over.Load() && !t.Failed() {
				p.loop(1)
			}
		})
	}
	for range outages {
		p.state(a, "offline")
		await(t, patience, "all are waiting", func() bool { return p.depth() == clients })
		p.state(a, "enabled")
		before := a.total.Load()
		await(t, patience, "service", func() bool { return a.total.Load() > before+int64(limit) })
	}
	over.Store(true)
	all.Wait()
	if n := a.most.Load(); n != int64(limit) {
		t.Errorf("most %d; want %d", n, limit)
	}
}

// A limit below what is in use closes nothing, and admits nobody until use is
// below it.
func TestC06LowerLimitDrains(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(10)}}.start(t)
	in := p.fill(a, 10)
	p.polite(5)
	p.awaitDepth(5)
	p.setMember(a, "connection-limit", "4")
	for i := range 6 {
		in[i].end()
		await(t, patience, "its slot is free", func() bool { return p.inUse() == 9-i })
	}
	a.nobody(50 * time.Millisecond)
	in = in[6:]
	for range 5 {
		in[0].end()
		in = append(in[1:], a.next(patience))
		a.nobody(10 * time.Millisecond)
	}
	for _, v := range in {
		v.end()
	}
}

// No limit any more releases everybody, and newcomers don't wait.
func TestC09LimitLifted(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	in := p.fill(a, 1)
	p.polite(5)
	p.awaitDepth(5)
	start := time.Now()
	p.setMember(a, "connection-limit", "0")
	for range 5 {
		in = append(in, a.next(patience))
	}
	between(t, "5 waiters served", time.Since(start), 0, 300*time.Millisecond)
	in = append(in, p.fill(a, 1)...)
	p.settled()
	if n := p.pool().Connq.Serviced; n != 5 {
		t.Errorf("%d have waited; want 5", n)
	}
	for _, v := range in {
		v.end()
	}
}

// Raised by three, a limit serves three waiters at once and no fourth.
// Lowered to one with four connected, it closes none.
func TestLimitRaisedAndLowered(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	in := p.fill(a, 1)
	p.polite(5)
	p.awaitDepth(5)
	start := time.Now()
	p.setMember(a, "connection-limit", "4")
	for range 3 {
		in = append(in, a.next(patience))
	}
	between(t, "three served", time.Since(start), 0, 100*time.Millisecond)
	a.nobody(100 * time.Millisecond)
	p.setMember(a, "connection-limit", "1")
	never(t, 200*time.Millisecond, "one of four is closed", func() bool { return p.inUse() != 4 || p.depth() != 2 })
	for _, v := range in { // and each still gets through, both ways
		v.greet()
	}
	for _, v := range in {
		v.end()
	}
	for range 2 {
		a.next(patience).end()
	}
	a.nobody(20 * time.Millisecond)
}

// Capacity that is added serves waiters.
func TestC10AddedMemberServesWaiters(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	b := listen(t, "B", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	p.polite(5)
	p.awaitDepth(5)
	start := time.Now()
	p.add(b, 2)
	in := []*visit{b.next(patience), b.next(patience)}
	between(t, "two served", time.Since(start), 0, 100*time.Millisecond)
	b.nobody(50 * time.Millisecond)
	v.end()
	v = a.next(patience)
	for range 2 {
		in[0].end()
		in = append(in[1:], b.next(patience))
	}
	v.end()
	in[0].end()
	in[1].end()
}

// A pool that was empty serves who waits for its first member.
func TestC76FirstMemberServesWaiters(t *testing.T) {
	t.Parallel()
	p := setup{pool: "when-down=queue"}.start(t)
	c := p.connect()
	p.awaitDepth(1)
	a := listen(t, "A", hold)
	p.add(a, 1)
	c.served(atOnce)
	c.Close()
}

// After the answer to its removal nobody is sent to a member, and nobody who
// waited for it is forgotten.
func TestC61NoDialAfterRemoval(t *testing.T) {
	t.Parallel()
	a, b := listen(t, "A", lasting(time.Millisecond)), listen(t, "B", lasting(time.Millisecond))
	p := setup{virtual: "persist=source,persist-timeout=50ms", members: []string{a.limit(2)}}.start(t)
	var over atomic.Bool
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := 0; !over.Load() && !t.Failed(); n++ { // four times, or all might belong to A for good
				p.visit("127.0." + itoa(n/4%250) + "." + itoa(2+i))
			}
		})
	}
	for range count(100, 1000) {
		p.add(b, 2)
		before := b.total.Load()
		await(t, patience, "service by B", func() bool { return b.total.Load() > before })
		p.remove(b, "")
		b.marked()
		after := b.total.Load()
		time.Sleep(time.Millisecond)
		if n := b.total.Load() - after; n != 0 {
			t.Errorf("%d dials after the answer", n)
		}
	}
	over.Store(true)
	all.Wait()
	if n := a.most.Load(); n != 2 {
		t.Errorf("A: most %d", n)
	}
}

// With now, what is connected to a removed member is cut.
func TestRemovalNow(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{members: []string{a.limit(5)}}.start(t)
	clients := p.connectMany(3)
	for _, c := range clients {
		c.served(patience)
	}
	p.remove(a, "?now=true")
	for _, c := range clients {
		c.refused(atOnce)
		c.Close()
	}
	if code, _ := p.api.do("GET", "/v1/members/p/"+a.addr, ""); code != http.StatusNotFound {
		t.Errorf("it is still there: %d", code)
	}
}

// A bad request changes nothing, says which key and why, and names all that is
// wrong.
func TestBadPatchChangesNothing(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{pool: "queue-depth-limit=1", members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	c := p.connect()
	p.awaitDepth(1)
	pool, member := p.api.get("/v1/pools/p"), "/v1/members/p/"+a.addr
	for _, bad := range []struct {
		path, body string
		code       int
		says       []string
	}{
		{"/v1/pools/p", `{"queue-depth-limit":"5","queue-time-limit":"soon","color":"red"}`, 400, []string{"queue-time-limit", "soon", "color"}},
		{"/v1/pools/p", `{"queue-depth-limit":-1}`, 400, []string{"queue-depth-limit", "-1"}},
		{"/v1/pools/p", `{"queue-depth-limit":5,"queue-depth-limit":6}`, 400, []string{"queue-depth-limit"}},
		{"/v1/pools/p", `{"queue-depth-limit":5`, 400, []string{"JSON"}},
		{member, `{"connection-limit":9,"state":"asleep"}`, 400, []string{"state", "asleep", "enabled"}},
		{member, `{"connection-limit":9,"address":"127.0.0.1:1"}`, 400, []string{"address"}},
		{"/v1/virtuals/v", `{"connection-limit":"many"}`, 400, []string{"connection-limit", "many"}},
		{"/v1/nodes/" + home(false), `{"ratio":0.5}`, 400, []string{"ratio"}},
		{"/v1/pools/q", `{"connection-limit":1}`, 404, []string{"q"}},
		{"/v1/members/p/127.0.0.1:1", `{"connection-limit":1}`, 404, []string{"127.0.0.1:1"}},
	} {
		code, text := p.api.do("PATCH", bad.path, bad.body)
		if code != bad.code {
			t.Errorf("%s %s: %d; want %d\n%s", bad.path, bad.body, code, bad.code, text)
		}
		for _, word := range bad.says {
			if !strings.Contains(text, word) {
				t.Errorf("%s %s: does not say %q:\n%s", bad.path, bad.body, word, text)
			}
		}
	}
	if now := p.api.get("/v1/pools/p"); settingsOf(t, now) != settingsOf(t, pool) {
		t.Errorf("changed to\n%s", now)
	}
	a.nobody(20 * time.Millisecond)
	p.turnedAway() // the depth is as it was
	if !c.waiting() {
		t.Error("who waited does not any more")
	}
	c.Close()
	v.end()
}
