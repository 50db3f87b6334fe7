package cases

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// waiter is one of those that the API lists.
type waiter struct {
	Position   int
	Client     string
	Virtual    string
	Pool       string
	Queue      string
	AgeMs      float64  `json:"ageMs"`
	ExpectedMs *float64 `json:"expectedMs"`
}

// waiters asks who waits.
func (p *proxy) waiters(query string) (list []waiter, total int) {
	p.t.Helper()
	return waitersIn(p.t, p.api.get("/v1/waiters"+near(query)))
}

func waitersIn(t testing.TB, text string) (list []waiter, total int) {
	t.Helper()
	var page struct {
		Total   int
		Waiters []waiter
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	return page.Waiters, page.Total
}

// Who waits is listed: in order, with its age since accept, its client, and
// for what it waits.
func TestWaitersAreListed(t *testing.T) {
	t.Parallel()
	p, a, _, in := stuck(t, "", "connection-limit=2", 1, 1)
	p.politeFrom("127.0.3.1") // on B
	await(t, patience, "two are served", func() bool { return p.inUse() == 2 })
	var waiting []*client
	var came, seen []time.Time // between which it was accepted
	for i, source := range []string{"127.0.3.2", sticky, "127.0.3.3", sticky} {
		came = append(came, time.Now())
		waiting = append(waiting, p.politeFrom(source))
		p.awaitAll(i + 1)
		seen = append(seen, time.Now())
		time.Sleep(50 * time.Millisecond)
	}
	before := time.Now()
	list, total := p.waiters("")
	after := time.Now()
	if len(list) != 4 || total != 4 {
		t.Fatalf("%d of %d listed; want 4", len(list), total)
	}
	for i, w := range list {
		c := waiting[i]
		queue := "pool"
		if strings.HasPrefix(w.Client, near(sticky)) {
			queue = a.addr
		}
		if w.Position != i+1 || w.Client != c.LocalAddr().String() || w.Virtual != "v" || w.Pool != "p" || w.Queue != queue {
			t.Errorf("%d: %+v; want %v for %s", i+1, w, c.LocalAddr(), queue)
		}
		age := time.Duration(w.AgeMs * float64(time.Millisecond))
		within20(t, "age of "+itoa(i+1), age, before.Sub(seen[i]), after.Sub(came[i]))
	}
	p.listed(t, waiting)
	between := seen[1].Add(came[2].Sub(seen[1]) / 2) // the second and the third
	await(t, patience, "two are older", func() bool {
		_, n := p.waiters("?older=" + time.Since(between).String())
		return n == 2
	})
	waiting[1].reset() // who leaves is not there any more
	await(t, leaving(), "three", func() bool { _, n := p.waiters(""); return n == 3 })
	if list, _ := p.waiters(""); list[1].Client != waiting[2].LocalAddr().String() || list[1].Position != 2 {
		t.Errorf("the third did not move up: %+v", list)
	}
	p.tidy = false
	in[0].end()
}

// within20 says that an age is right within 20 ms of what it can be.
func within20(t testing.TB, what string, age, least, most time.Duration) {
	t.Helper()
	if age < least-tick || age > most+tick {
		t.Errorf("%s: %v; it is %v to %v", what, age, least, most)
	}
}

// The age of the head is right within 20 ms at any time, whoever is the head,
// and wherever it is told.
func TestAgeOfTheHeadMoves(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	var came, seen []time.Time
	for i := range 5 {
		came = append(came, time.Now())
		p.polite(1)
		p.awaitDepth(i + 1)
		seen = append(seen, time.Now())
		time.Sleep(time.Duration(50+30*i) * time.Millisecond)
	}
	for i := range 5 {
		for name, ask := range map[string]func() float64{
			"API":     func() float64 { return p.pool().Connq.AgeHeadMs / 1000 },
			"metrics": func() float64 { return p.metric(`penstock_pool_connq_age_head_seconds{pool="p"}`) },
			"waiters": func() float64 { list, _ := p.waiters("?limit=1"); return list[0].AgeMs / 1000 },
		} {
			// Whoever gave the slot on may not have noted the next head yet.
			var before, after time.Time
			var age time.Duration
			happens(atOnce, func() bool {
				before = time.Now()
				age = time.Duration(ask() * float64(time.Second))
				after = time.Now()
				return age < after.Sub(came[i])+tick
			})
			within20(t, name+": head "+itoa(i), age, before.Sub(seen[i]), after.Sub(came[i]))
		}
		v.end()
		v = a.next(patience)
	}
	v.end()
}

// listed asks for some of four waiters only, and by ctl.
func (p *proxy) listed(t *testing.T, waiting []*client) {
	t.Helper()
	for query, want := range map[string][]int{
		"?client=127.0.1.0/24": {1, 3}, "?queue=pool": {0, 2}, "?queue=member": {1, 3}, "?older=1h": nil,
		"?skip=1&limit=2": {1, 2}, "?pool=p&virtual=v&limit=1": {0}, "?client=127.0.3.3": {2},
	} {
		list, _ := p.waiters(query)
		var got []int
		for _, w := range list {
			got = append(got, w.Position-1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v; want %v", query, got, want)
		}
	}
	list, _ := waitersIn(t, p.ctl("-o", "json", "show", "waiters", near("client=127.0.1.0/24"), "limit=1"))
	if len(list) != 1 || list[0].Client != waiting[1].LocalAddr().String() {
		t.Errorf("ctl -o json: %+v", list)
	}
	text := p.ctl("show", "waiters")
	for _, c := range waiting {
		if !strings.Contains(text, c.LocalAddr().String()) {
			t.Errorf("ctl does not show %v:\n%s", c.LocalAddr(), text)
		}
	}
}

// A pause holds everybody, who waits and who comes, and its end serves them in
// order. Who is connected notices nothing, and clocks go on.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	const limit = 4500 * time.Millisecond // half a second from when a client asks again that is connecting
	p := setup{pool: "queue-time-limit=" + limit.String(), members: []string{a.limit(2)}}.start(t)
	holder := p.connect()
	v := a.next(patience)
	p.ctl("pause", "pool", "p")
	impatient := p.connect()
	expired := make(chan time.Duration)
	go func() {
		impatient.refused(patience)
		expired <- time.Since(impatient.at)
	}()
	p.awaitDepth(1)
	time.Sleep(time.Until(impatient.at.Add(limit - time.Second))) // the others have more time, and then much more
	for i := range 4 {
		p.polite(1)[0].say(itoa(i) + "\n")
		await(t, patience, "it waits", func() bool { // or it has waited, and that is the first one
			s := p.pool()
			return s.Connq.Depth+s.Expired == i+2
		})
	}
	v.greet()
	holder.served(patience)
	if s := p.ctl("show", "pools", "p"); !strings.Contains(s, "paused") {
		t.Errorf("ctl does not say that it is paused:\n%s", s)
	}
	after := <-expired
	p.setPool("queue-time-limit", "30s")
	between(t, "expired", after, limit-50*time.Millisecond, limit+100*time.Millisecond)
	a.nobody(0)
	resumed := time.Now()
	p.ctl("resume", "pool", "p")
	w := a.next(patience)
	between(t, "served", w.at.Sub(resumed), 0, 300*time.Millisecond) // a process starts in between
	for i := range 4 {
		if text, _ := w.line(); text != itoa(i) {
			t.Errorf("served %q; want %d", text, i)
		}
		w.end()
		if i < 3 {
			w = a.next(patience)
		}
	}
	v.end()
	holder.Close()
	p.works(a, 2)
}

// Flush refuses those who wait, all or those who are meant, and nobody else.
func TestFlush(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	var one, other []*client
	for range 5 {
		one = append(one, p.from("127.0.1.1"))
		other = append(other, p.from("127.0.2.1"))
	}
	p.awaitDepth(10)
	if s := p.ctl("flush", "pool", "p", near("client=127.0.1.0/24")); !strings.Contains(s, "5") {
		t.Errorf("ctl says %q", s)
	}
	for _, c := range one {
		c.refused(atOnce)
	}
	if n := p.depth(); n != 5 {
		t.Errorf("%d wait; want 5", n)
	}
	p.ctl("flush", "pool", "p")
	for _, c := range other {
		c.refused(atOnce)
		c.Close()
	}
	if got := codes(p.awaitLog(10)); got["QX"] != 10 {
		t.Errorf("codes %v; want QX ten times", got)
	}
	p.polite(1) // the queue goes on
	p.awaitDepth(1)
	v.end()
	a.next(patience).end()
}

// What is set is shown everywhere, and acts.
func TestC75PatchIsShownAndActs(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	s := setup{pool: "queue-depth-limit=2", members: []string{a.limit(1)}}
	p := s.start(t)
	v := p.fill(a, 1)[0]
	for i, depth := range []int{2, 5, 3} {
		if i > 0 {
			p.ctl("set", "pool", "p", "queue-depth-limit="+itoa(depth))
		}
		s.pool = "queue-depth-limit=" + itoa(depth)
		if got := s.checked(t); got != itoa(depth) {
			t.Errorf("check: %s; want %d", got, depth)
		}
		if got := p.metric(`penstock_pool_connq_depth_limit{pool="p"}`); got != float64(depth) {
			t.Errorf("metrics: %v; want %d", got, depth)
		}
		if got := p.pool().EffectiveDepth; got == nil || *got != depth {
			t.Errorf("API: %v; want %d", got, depth)
		}
		if got := column(t, p.ctl("show", "pools"), "ROOM"); got != itoa(depth) {
			t.Errorf("ctl show: %s; want %d", got, depth)
		}
		p.polite(depth)
		p.awaitDepth(depth)
		p.turnedAway()
		for range depth {
			v.end()
			v = a.next(patience)
		}
	}
	v.end()
}

// column returns the first value under a heading of a table.
func column(t testing.TB, table, heading string) string {
	t.Helper()
	rows := strings.Split(table, "\n")
	for i, name := range strings.Fields(rows[0]) {
		if values := strings.Fields(rows[1]); name == heading && i < len(values) {
			return values[i]
		}
	}
	t.Fatalf("no column %s in\n%s", heading, table)
	return ""
}
