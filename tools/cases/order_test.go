package cases

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// inversions counts pairs of neighbours that are out of order.
func inversions(order []int) (n int) {
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			n++
		}
	}
	return n
}

// guestBook is a server that reads a number from each client, in the order in
// which they are served, and keeps it for a time.
type guestBook struct {
	*server
	mu    sync.Mutex
	order []int
}

func newGuestBook(t testing.TB, stay time.Duration) *guestBook {
	g := &guestBook{}
	g.server = listen(t, "A", func(v *visit) {
		text, _ := v.line()
		n := -1
		fmt.Sscan(text, &n)
		g.mu.Lock()
		g.order = append(g.order, n)
		g.mu.Unlock()
		time.Sleep(stay)
		v.end()
	})
	return g
}

func (g *guestBook) served() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]int(nil), g.order...)
}

// arrive has n clients come, at least pace apart, each after the one before it
// had its place: order is the order of accept.
func (p *proxy) arrive(a *guestBook, n int, pace time.Duration) {
	p.t.Helper()
	for i := range n {
		c := p.polite(1)[0]
		c.say(itoa(i) + "\n")
		// Whoever is on the way from the queue to the server is in neither number.
		await(p.t, patience, "accepted", func() bool { return int(a.total.Load())+p.depth() == i+1 })
		time.Sleep(pace) // nobody catches up: two within 1 ms may swap
	}
}

func inOrder(t *testing.T, loops, n int, pace, stay time.Duration) {
	t.Helper()
	a := newGuestBook(t, stay)
	p := setup{loops: loops, pool: unhurried, members: []string{a.limit(1)}}.start(t)
	p.arrive(a, n, pace)
	await(t, patience, "all served", func() bool { return len(a.served()) == n })
	if k := inversions(a.served()); k != 0 {
		t.Errorf("%d inversions: %v", k, a.served())
	}
	if a.most.Load() != 1 {
		t.Errorf("most %d", a.most.Load())
	}
}

// First come, first served.
func TestC15FirstComeFirstServed(t *testing.T) {
	t.Parallel()
	inOrder(t, 4, 40, 20*time.Millisecond, 20*time.Millisecond)
}

// 80 clients, 5 ms apart, at a limit of one.
func TestEightyInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, 4, 80, 5*time.Millisecond, 10*time.Millisecond)
}

// One order over all loops, however many there are.
func TestC18OneOrderOverAllLoops(t *testing.T) {
	for _, loops := range []int{1, 4, 8} {
		t.Run(itoa(loops), func(t *testing.T) {
			t.Parallel()
			inOrder(t, loops, count(150, 300), 5*time.Millisecond, 10*time.Millisecond)
		})
	}
}

// A freed slot is the oldest waiter's, however many newcomers are there in
// that instant.
func TestC16NewcomersNeverOvertake(t *testing.T) {
	a := listen(t, "A", nil)
	p := setup{pool: "queue-time-limit=60s", members: []string{a.limit(1)}}.start(t)
	const waiters = 5
	number := 0
	join := func() {
		p.polite(1)[0].say(itoa(number) + "\n")
		number++
		await(t, patience, "accepted", func() bool { return p.depth() == min(number-1, waiters) })
	}
	join()
	v := a.next(patience)
	for range waiters {
		join()
	}
	rounds := count(30, 1000)
	if *overTap { // each takes as long as newcomers who left are not missed
		rounds = count(3, 100)
	}
	for round := range rounds {
		crowd := p.rush(v, count(40, 200))
		v = a.next(patience)
		if text, _ := v.line(); text != itoa(round+1) {
			t.Fatalf("round %d: served %q; want the head, %d", round, text, round+1)
		}
		for _, c := range crowd {
			c.reset()
		}
		await(t, patience, "newcomers gone", func() bool { return p.depth() == waiters-1 })
		number = round + 1 + waiters
		p.polite(1)[0].say(itoa(number) + "\n")
		await(t, patience, "accepted", func() bool { return p.depth() == waiters })
	}
	p.tidy = false
}

// rush has newcomers connect in the 5 ms around the end of v.
func (p *proxy) rush(v *visit, n int) (crowd []*client) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			time.Sleep(5 * time.Millisecond * time.Duration(i) / time.Duration(n))
			c := p.connect()
			c.say("newcomer\n")
			mu.Lock()
			crowd = append(crowd, c)
			mu.Unlock()
		})
	}
	time.Sleep(2500 * time.Microsecond)
	v.end()
	all.Wait()
	return crowd
}
