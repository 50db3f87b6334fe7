package cases

import (
	"io"
	"sync"
	"testing"
	"time"
)

// A FIN after bytes is a half-close: the client stays, and is served.
func TestC19HalfCloseWhileParked(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	p.polite(1)
	v := a.next(patience)
	clients := p.connectMany(5)
	for _, c := range clients {
		c.say("x")
		c.CloseWrite()
	}
	p.awaitDepth(5)
	never(t, 200*time.Millisecond, "one of them left", func() bool { return p.depth() != 5 })
	for range clients {
		v.end()
		v = a.next(patience)
		if text, err := readAll(v); text != "x" || err != nil {
			t.Errorf("the server read %q, %v; want x and the end", text, err)
		}
		v.Write([]byte("reply"))
	}
	v.end()
	for _, c := range clients {
		if how, text := c.ends(patience); how != byFIN || text != "reply" {
			t.Errorf("the client read %q, %s", text, how)
		}
		c.Close()
	}
}

func readAll(v *visit) (string, error) {
	v.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(v)
	return string(b), err
}

// A FIN without a byte is for on-client-close to judge.
func TestC19BareFINWhileParked(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"leave", "keep"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{pool: "on-client-close=" + policy, members: []string{a.limit(1)}}.start(t)
			p.polite(1)
			v := a.next(patience)
			clients := p.connectMany(5)
			p.awaitDepth(5)
			for _, c := range clients {
				c.Close()
			}
			if policy == "leave" {
				await(t, leaving(), "all left", func() bool { return p.depth() == 0 && p.pool().Abandoned == 5 })
				v.end()
				a.nobody(200 * time.Millisecond)
				return
			}
			never(t, 200*time.Millisecond, "one of them left", func() bool { return p.depth() != 5 })
			for range clients {
				v.end()
				v = a.next(patience)
			}
			v.end()
			if n := a.total.Load(); n != 6 {
				t.Errorf("%d dials; want 6", n)
			}
		})
	}
}

// Who leaves while parked has left at once, wherever it stood, and no
// connection to a server is ever opened for it.
func TestC20LeavingWhileParked(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	p.polite(1)
	v := a.next(patience)
	var clients []*client
	for i := range 3 {
		c := p.polite(1)[0]
		clients = append(clients, c)
		p.awaitDepth(i + 1)
	}
	clients[1].reset()
	await(t, leaving(), "depth 2", func() bool { return p.depth() == 2 && p.pool().Abandoned == 1 })
	clients[0].say("first\n")
	clients[2].say("third\n")
	for _, want := range []string{"first", "third"} {
		v.end()
		v = a.next(patience)
		if text, _ := v.line(); text != want {
			t.Errorf("served %q; want %s", text, want)
		}
	}
	v.end()
	a.nobody(200 * time.Millisecond)
	if got := codes(p.awaitLog(4)); got["CQ"] != 1 {
		t.Errorf("codes %v; want CQ once", got)
	}
}

// Those who left cost nothing, also behind a head that stays.
func TestC21LeaversCostNothing(t *testing.T) {
	a := listen(t, "A", nil)
	p := setup{pool: "queue-time-limit=0", members: []string{a.limit(1)}}.start(t)
	p.polite(1)
	v := a.next(patience)
	p.polite(1)
	p.awaitDepth(1)
	leavers := func(n int) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range n / 4 {
					if c, err := p.dial(""); err == nil {
						c.reset()
					} else {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		await(t, patience, "depth 1", func() bool { return p.depth() == 1 })
	}
	leavers(2000) // so that all code has run once
	most := int64(10 << 20)
	if *overTap { // garbage of half-open connections, which is not much enough to be collected
		most = 48 << 20
	}
	grown := most*raceFactor + 1
	for i := 0; i < 4 && grown > most*raceFactor; i++ { // what is kept of each, grows each time; garbage does not
		before := p.memory()
		leavers(count(20_000, 200_000))
		grown = p.memory() - before
	}
	if grown > most*raceFactor {
		t.Errorf("grew by %d kB", grown>>10)
	} else {
		t.Logf("grew by %d kB", grown>>10)
	}
	v.end()
	v = a.next(patience)
	v.end()
	a.nobody(100 * time.Millisecond)
}

// The head leaves in the instant in which it is served: the next one is.
func TestC22LeavingAsServed(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	for round := range count(300, 100_000) {
		p.polite(1)
		v := a.next(patience)
		head := p.connect()
		p.awaitDepth(1)
		second := p.polite(1)[0]
		second.say("second\n")
		p.awaitDepth(2)
		together(v.end, func() {
			time.Sleep(time.Duration(round%10) * 20 * time.Microsecond)
			head.reset()
		})
		for { // the head may have got through
			v = a.next(patience)
			text, _ := v.line()
			v.end()
			if text == "second" {
				break
			}
		}
		await(t, patience, "in use 0", func() bool { return p.inUse() == 0 && p.depth() == 0 })
	}
}
