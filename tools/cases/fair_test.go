package cases

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// jain is Jain's index of fairness: 1 if all have the same.
func jain(shares []int) float64 {
	var sum, squares float64
	for _, n := range shares {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// One sender of 99 % of the arrivals can't starve the others: as long as all
// have work, all prefixes are served alike.
func TestFairToPrefixes(t *testing.T) {
	// Not more prefixes, or two might have the same flow: that the hand of one of
	// these is all taken has a chance of 15⁹/(9·256⁸), one in three billion.
	const others = 15
	each := count(10, 12)       // a process has descriptors for so many
	flood := 99 * others * each // the sender's part of all that come
	a := listen(t, "A", nil)
	p := setup{
		pool:    "queue-fair=source/24,queue-time-limit=0",
		members: []string{a.limit(1)},
	}.start(t)
	crowd := newCrowd(t)
	crowd.connect(p.addr, flood/2)
	v := a.next(patience)
	for i := range others { // in the midst of the flood
		for range each {
			p.from("127.0." + itoa(1+i) + "." + itoa(1+i)).say("other " + itoa(i) + "\n")
		}
	}
	crowd.connect(p.addr, flood-flood/2)
	p.awaitDepth(flood + others*each - 1)
	v.line() // it is connected all the way
	shares := make([]int, others+1)
	for range (others + 1) * each {
		v.reset()
		v = a.next(patience)
		text, err := v.line()
		if err != nil {
			t.Errorf("%q %v", text, err)
		}
		if i, ok := strings.CutPrefix(text, "other "); ok {
			n, _ := strconv.Atoi(i)
			shares[n]++
		} else {
			shares[others]++
		}
	}
	index := jain(shares)
	t.Logf("%d prefixes, %d waiting for one of them: served %v, Jain's index %.4f", len(shares), flood, shares, index)
	if index < 0.99 {
		t.Errorf("Jain's index %.4f; want 0.99", index)
	}
	p.tidy = false
	crowd.leave()
	v.end()
}

// Without it, they wait for the flood: the rule is what makes the difference.
func TestUnfairWithoutTheRule(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	for range 30 {
		p.connect().say("flood\n")
	}
	p.awaitDepth(29)
	p.from("127.0.2.1").say("other\n")
	p.awaitDepth(30)
	v := a.next(patience)
	for range 29 {
		v.line()
		v.reset()
		v = a.next(patience)
	}
	if text, _ := v.line(); text != "flood" {
		t.Errorf("served %q", text)
	}
	p.tidy = false
	v.reset()
}

// area adds up how long how many connections were there.
type area struct {
	mu    sync.Mutex
	now   int
	since time.Time
	sum   time.Duration
}

// watch has it look at a server, which nobody may have come to.
func (r *area) watch(s *server) {
	s.watch(func(*visit) { r.add(1) }, func(*visit) { r.add(-1) })
}

// add changes the number, and returns what has been added up.
func (r *area) add(n int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if !r.since.IsZero() {
		r.sum += time.Duration(r.now) * now.Sub(r.since)
	}
	r.now, r.since = r.now+n, now
	return r.sum
}

// overload has clients arrive at a rate until the time is over, and asks each
// what became of it.
type overload struct {
	mu      sync.Mutex
	refused spread // after which time
	waits   spread // of those who were served
	late    int    // refused after more than half of queue-time-limit
	from    time.Time

	// Of the server while clients came, without the warming up.
	there area
	used  time.Duration // by all of its connections together
	came  int
	span  time.Duration
	all   sync.WaitGroup
}

// run returns when all have ended. Those who come before warm don't count.
func (o *overload) run(p *proxy, a *server, rate int, warm, span, limit time.Duration) {
	start := time.Now()
	o.from = start.Add(warm)
	since := start
	o.there.watch(a)
	for i := 0; time.Since(start) < span; i++ {
		if time.Since(start) < warm {
			o.came, o.used, since = -int(a.total.Load()), -o.there.add(0), time.Now()
		}
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		o.all.Go(func() { o.one(p, limit) })
	}
	o.came += int(a.total.Load())
	o.used += o.there.add(0)
	o.span = time.Since(since)
	o.all.Wait()
}

func (o *overload) one(p *proxy, limit time.Duration) {
	begun := time.Now()
	c, err := p.dial("")
	took := time.Since(begun)
	served := false
	if err == nil {
		served = c.greeting(patience) != ""
		took = time.Since(c.at)
		if served {
			c.ends(patience)
		}
		c.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case begun.Before(o.from):
	case served:
		o.waits = append(o.waits, took)
	case took > limit/2:
		o.late++
	default:
		o.refused = append(o.refused, took)
	}
}

// With ten times as many as can be served, refuse-early says so at once to
// those whose turn would not come in time, and the servers are as busy as
// without it.
func TestRefuseEarlyUnderOverload(t *testing.T) {
	const limit, stay, queueTime = 10, 200 * time.Millisecond, time.Second
	warm, span := 3*time.Second, time.Duration(count(7, 20))*time.Second
	rate := 10 * limit * int(time.Second/stay)
	var o, without overload
	var both sync.WaitGroup
	for o, early := range map[*overload]string{&o: "on", &without: "off"} {
		a := listen(t, "A", lasting(stay))
		p := setup{
			pool:    "refuse-early=" + early + ",queue-time-limit=" + queueTime.String(),
			members: []string{a.limit(limit)},
		}.start(t)
		both.Go(func() { o.run(p, a, rate, warm, span, queueTime) })
	}
	both.Wait()
	// Served/s of capacity is how much of the slots is used: both are of the
	// time that the server takes for one.
	used, usual := o.used.Seconds()/(limit*o.span.Seconds()), without.used.Seconds()/(limit*without.span.Seconds())
	noted()
	stall := min(o.span, stalledIn(o.from, time.Now()))
	t.Logf("%.2f %% of the capacity used, %.2f %% without it, %.1f/s; waits p50 %v, longest %v; refused %d: p50 %v, p99 %v; late %d; %v for stalls",
		100*used, 100*usual, float64(o.came)/o.span.Seconds(), o.waits.at(0.5), o.waits.at(1),
		len(o.refused), o.refused.at(0.5), o.refused.at(0.99), o.late, stall)
	if raced { // its speed is not what is asked for
		return
	}
	// Whose wait a stall lengthens leaves no short queue behind for the servers.
	if used < 0.95*usual-stall.Seconds()/o.span.Seconds()/2 {
		t.Errorf("%.2f %% of the capacity used; without it %.2f %%", 100*used, 100*usual)
	}
	if p50 := o.refused.at(0.5); p50 > queueTime/20+stall/10 { // who come behind a stall come all at once
		t.Errorf("refused after %v", p50)
	}
	// On a machine whose two cores others use, too, a time slice lies between.
	if p99 := o.refused.at(0.99); p99 > 5*time.Millisecond+slack+stall {
		t.Errorf("refused: p99 %v", p99)
	}
	// Whose turn a stall has put off could not know.
	n := float64(len(o.waits) + len(o.refused) + o.late)
	if most := n/50 + n*stall.Seconds()/o.span.Seconds(); float64(o.late) > most {
		t.Errorf("%d of %v expired all the same", o.late, n)
	}
	if longest := o.waits.at(1); longest > queueTime+slack+stall {
		t.Errorf("somebody waited %v", longest)
	}
}

// With twice as many as can be served for a long time, codel sheds some, so
// that the others wait a bounded time, far from queue-time-limit; and no
// capacity is lost. Fifo would have them wait to the limit.
func TestCodelBoundsWaits(t *testing.T) {
	const limit, stay, rate = 5, 50 * time.Millisecond, 200 // twice what can be served
	fifo, codel := &overload{}, &overload{}
	var both sync.WaitGroup
	for o, discipline := range map[*overload]string{fifo: "fifo", codel: "codel"} {
		a := listen(t, discipline, lasting(stay))
		p := setup{
			pool:    "queue-time-limit=3s,queue-discipline=" + discipline,
			members: []string{a.limit(limit)},
		}.start(t)
		both.Go(func() { o.run(p, a, rate, 2*time.Second, time.Duration(count(5, 15))*time.Second, 6*time.Second) })
	}
	both.Wait()
	for _, o := range []*overload{fifo, codel} {
		t.Logf("%d came to the server; waits p50 %v, p90 %v, longest %v; %d refused",
			o.came, o.waits.at(0.5), o.waits.at(0.9), o.waits.at(1), len(o.refused))
	}
	// 8 service times is where codel is to end, and the limit is where fifo does;
	// what others take of the machine comes on top.
	noted()
	stall := stalledIn(codel.from, time.Now())
	if c, f := codel.waits.at(0.9), fifo.waits.at(0.9); c > f/2+stall {
		t.Errorf("p90 of the waits %v; without codel %v", c, f)
	}
	// A short queue runs dry when the clients stall.
	if f, c := float64(fifo.came), float64(codel.came); c < f*0.8*(1-min(1, stall.Seconds()/codel.span.Seconds())) {
		t.Errorf("%v come to the server; without codel %v", c, f)
	}
}

// The highest class goes first, and in a class who came first.
func TestTopClassFirst(t *testing.T) {
	t.Parallel()
	a := newGuestBook(t, time.Millisecond)
	p := setup{
		virtual: "queue-class=1,queue-class-from=127.0.1.0/24:7/127.0.1.9/32:0", pool: "queue-class-age=1m",
		members: []string{a.limit(1)},
	}.start(t)
	holder := p.connect()
	await(t, patience, "a holder", func() bool { return a.total.Load() == 1 })
	var want [3][]int
	for i, source := range []string{"127.0.1.9", "127.0.2.1", "127.0.1.1", "127.0.1.9", "127.0.2.2", "127.0.1.2", "127.0.2.1"} {
		p.politeFrom(source).say(itoa(i+1) + "\n")
		p.awaitDepth(i + 1)
		rank := map[string]int{"127.0.1.1": 0, "127.0.1.2": 0, "127.0.1.9": 2}
		class, ok := rank[source]
		if !ok {
			class = 1
		}
		want[class] = append(want[class], i+1)
	}
	list, _ := p.waiters("")
	holder.say("0\n")
	holder.ends(patience)
	holder.Close()
	await(t, patience, "all served", func() bool { return len(a.served()) == 8 })
	order := append(append(append([]int{0}, want[0]...), want[1]...), want[2]...)
	for i, n := range a.served() {
		if n != order[i] {
			t.Errorf("served %v; want %v", a.served(), order)
			break
		}
	}
	if !strings.HasPrefix(list[0].Client, near("127.0.1.1:")) {
		t.Errorf("the first of the list is %v", list[0].Client)
	}
}

// The lowest class is not starved: each class counts as queue-class-age
// later, no more. Who comes that much later than a waiter is behind it.
func TestLowestClassIsNotStarved(t *testing.T) {
	t.Parallel()
	const age, classes = 200 * time.Millisecond, 7
	a := newGuestBook(t, time.Millisecond)
	p := setup{
		virtual: "queue-class-from=127.0.1.0/24:7", pool: "queue-time-limit=60s,queue-class-age=" + age.String(),
		members: []string{a.limit(1)},
	}.start(t)
	holder := p.connect()
	await(t, patience, "a holder", func() bool { return a.total.Load() == 1 })
	var came, seen []time.Time
	arrive := func(source string) (number int) {
		number = len(came)
		came = append(came, time.Now())
		p.politeFrom(source).say(itoa(number) + "\n")
		p.awaitDepth(number + 1)
		seen = append(seen, time.Now())
		return number
	}
	inTime := func(top, low int) bool { return seen[top].Before(came[low].Add(classes * age)) }
	later := func(top, low int) bool { return came[top].After(seen[low].Add(classes * age)) }
	var lows, tops []int
	for low, top := 0, 0; top == 0 || !inTime(top, low); { // or a stall was between the two
		low = arrive("127.0.0.1")
		top = arrive("127.0.1.1")
		lows, tops = append(lows, low), append(tops, top)
	}
	for last := lows[len(lows)-1]; !later(tops[len(tops)-1], last); {
		time.Sleep(age)
		tops = append(tops, arrive("127.0.1.1"))
	}
	holder.say("holder\n")
	holder.ends(patience)
	holder.Close()
	await(t, patience, "all served", func() bool { return len(a.served()) == 1+len(came) })
	order := a.served()[1:]
	for _, low := range lows {
		for _, top := range tops {
			first := slices.Index(order, top) < slices.Index(order, low)
			if inTime(top, low) && !first {
				t.Errorf("%d came in time, and is behind %d", top, low)
			}
			if later(top, low) && first {
				t.Errorf("%d came later, and is before %d", top, low)
			}
		}
	}
}
