package cases

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// full starts a proxy that may have few descriptors, and connects more clients
// than it can take.
func full(t *testing.T, files, clients int) (*proxy, *server, []*client) {
	t.Helper()
	a := listen(t, "A", hold)
	p := setup{files: files, members: []string{a.addr}}.start(t)
	cs := p.connectMany(clients)
	p.awaitLine("full")
	return p, a, cs
}

// takeTurns has all clients be served, each leaving when it was.
func takeTurns(t *testing.T, cs []*client) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range cs {
		all.Go(func() {
			if c.greeting(patience) == "" {
				t.Error("not served")
			}
			c.Close()
		})
	}
	all.Wait()
}

// Too few descriptors never end a listener.
func TestC53DescriptorsRunOut(t *testing.T) {
	t.Parallel()
	p, _, clients := full(t, 64, 100)
	for _, c := range clients[:50] {
		c.Close()
	}
	takeTurns(t, clients[50:])
	for range 10 {
		c := p.connect()
		c.served(atOnce)
		c.Close()
	}
}

// A full proxy neither spins nor talks.
func TestC54FullIsQuiet(t *testing.T) {
	p, _, clients := full(t, 64, 100)
	p.rests("full", 0.05, time.Duration(count(2, 10))*time.Second)
	if n := p.linesWith("full"); n > 10 {
		t.Errorf("says so %d times", n)
	}
	takeTurns(t, clients)
}

// 256 descriptors and 600 clients.
func TestSixHundredClients256Descriptors(t *testing.T) {
	p, a, clients := full(t, 256, 600)
	p.rests("full", 0.2, 2*time.Second)
	for _, c := range clients[:300] {
		c.Close()
	}
	takeTurns(t, clients[300:])
	// Some of those who left had connected, and may be found only now.
	await(t, patience, "nobody there", func() bool { return p.accepted() == 600 && p.metric("penstock_descriptors") == 0 })
	a.marked()
	served := a.total.Load()
	c := p.connect()
	c.served(atOnce)
	c.Close()
	if n := a.total.Load() - served; n != 1 {
		t.Errorf("%d connections to the server for one client", n)
	}
}

// What the limit of descriptors means is said at start, with the numbers.
func TestC55LimitIsSaid(t *testing.T) {
	t.Parallel()
	p := setup{files: 1024, flags: []string{"-max-connections", "2000"}}.start(t)
	line := fields(p.awaitLine("msg=descriptors"))
	if line["limit"] != "1024" || line["proxied_connections_at_most"] == "" {
		t.Errorf("%v", line)
	}
	await(t, patience, "-max-connections above the limit is named", func() (named bool) {
		for line := range strings.Lines(p.stderr()) {
			named = named || strings.Contains(line, "level=WARN") && strings.Contains(line, "2000") && strings.Contains(line, "1024")
		}
		return named
	})
}

// A paused listener goes on when its last connections leave, all at once.
func TestC57ResumesAfterTheLast(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{members: []string{a.addr}, flags: []string{"-max-connections", "20"}}.start(t)
	for range count(30, 100) {
		var fill []func()
		for range 20 {
			c := p.connect()
			c.served(atOnce)
			fill = append(fill, func() { c.Close() })
		}
		next := p.connect()
		together(fill...)
		next.served(atOnce)
		next.Close()
		await(t, patience, "nobody there", func() bool { return p.metric("penstock_descriptors") == 0 })
	}
}
