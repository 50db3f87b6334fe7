package cases

import (
	"math"
	"sync"
	"testing"
	"time"
)

// A histogram of the waits by outcome, from accept on: counts exact, sums as
// the clients measured.
func TestC72WaitsByOutcome(t *testing.T) {
	const each = 30
	a := listen(t, "A", nil)
	start := time.Now()
	p := setup{pool: unhurried, members: []string{a.limit(1)}}.start(t)
	holder := p.fill(a, 1)[0]
	var mu sync.Mutex
	var measured struct{ served, expired, abandoned time.Duration }
	var all sync.WaitGroup
	wait := func(sum *time.Duration, of func(c *client)) {
		c := p.connect()
		all.Go(func() {
			of(c)
			d := time.Since(c.at)
			mu.Lock()
			*sum += d
			mu.Unlock()
			c.Close()
		})
	}
	for range each {
		wait(&measured.served, func(c *client) { c.served(patience) })
	}
	p.awaitDepth(each)
	for range each {
		wait(&measured.abandoned, func(c *client) { time.Sleep(200 * time.Millisecond); c.reset() })
		wait(&measured.expired, func(c *client) { c.refused(patience) })
	}
	await(t, patience, "those who leave have left", func() bool { return p.pool().Abandoned == each })
	for range each {
		holder.end()
		holder = a.next(patience)
		holder.greet()
	}
	p.setPool("queue-time-limit", "1s")
	all.Wait()
	holder.end()
	p.settled()
	for outcome, sum := range map[string]time.Duration{
		"served": measured.served, "refused": measured.expired, "abandoned": measured.abandoned,
	} {
		labels := `{outcome="` + outcome + `",pool="p"}`
		if n := p.metric("penstock_pool_wait_seconds_count" + labels); n != each {
			t.Errorf("%s: %v counted; want %d", outcome, n, each)
		}
		got := p.metric("penstock_pool_wait_seconds_sum" + labels)
		if *overTap && outcome == "abandoned" { // when it was noticed
			sum = max(sum, min(sum+each*leaving(), time.Duration(got*float64(time.Second))))
		}
		if math.Abs(got-sum.Seconds()) > each*(5*time.Millisecond+slack/10*raceFactor+stalled(start)).Seconds() {
			t.Errorf("%s: sum %v s; the clients measured %v", outcome, got, sum)
		}
	}
}

// The age of the head counts from accept, and is 0 when nobody waits.
func TestC73AgeOfTheHead(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	came := time.Now()
	p.polite(1)
	p.awaitDepth(1)
	seen := time.Now()
	time.Sleep(time.Until(came.Add(time.Second)))
	before := time.Now()
	age := time.Duration(p.pool().Connq.AgeHeadMs * float64(time.Millisecond))
	within20(t, "age of the head", age, before.Sub(seen), time.Since(came))
	seconds := p.metric(`penstock_pool_connq_age_head_seconds{pool="p"}`)
	between(t, "age in the metrics", time.Duration(seconds*float64(time.Second)), age, time.Since(came))
	v.end()
	a.next(patience).end()
	await(t, atOnce, "age 0", func() bool { return p.pool().Connq.AgeHeadMs == 0 })
}
