package cases

import (
	"context"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	flood "penstock/bench/syn"
	numbers "penstock/bench/tally"
)

// echo sends back what comes, to the end.
func echo(v *visit) {
	io.Copy(v, v)
	v.CloseWrite()
	v.end()
}

// echoed sends bytes made from a seed, and checks that they come back.
func (c *client) echoed(seed byte, size int) {
	c.t.Helper()
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	said := make(chan error, 1)
	go func() {
		_, err := c.Write(data)
		c.CloseWrite()
		said <- err
	}()
	c.SetReadDeadline(time.Now().Add(3 * patience))
	sum := sha256.New()
	n, err := io.Copy(sum, struct{ io.Reader }{c})
	c.Close()
	told := <-said // a reset is told once, to who asks first
	if n != int64(size) || err != nil || [32]byte(sum.Sum(nil)) != sha256.Sum256(data) {
		c.t.Errorf("%d of %d bytes came back, %v; sent with %v", n, size, err, told)
	}
}

// With syn-proof=always a client that has to wait is answered, so that it can
// show that it hears; then it waits, connected, and may send nothing. When it is
// served, all its bytes get through, both ways.
func TestTapProven(t *testing.T) {
	tapOnly(t)
	for _, family := range []string{"127.0.0.1", "[::1]"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			const clients = 8
			a := listenFor(t, family, "A", nil)
			p := setup{virtual: "syn-proof=always,listen=" + family + ":0", members: []string{a.limit(1)}}.start(t)
			v := p.fill(a, 1)[0]
			var parked []*client
			for i := range clients {
				c := p.connect()
				parked = append(parked, c)
				c.connected(patience)
				p.awaitDepth(i + 1)
				if n, err := c.Write(make([]byte, 100)); err != nil || n != c.unsent() { // its kernel has room for them
					t.Errorf("%d bytes of a parked client are taken, %v", n-c.unsent(), err)
				}
			}
			if n := a.total.Load(); n != 1 {
				t.Errorf("%d dials", n)
			}
			parked[0].reset() // and who leaves has left at once
			await(t, atOnce, "it has left", func() bool { return p.depth() == clients-1 })
			size := count(256<<10, 8<<20)
			for i, c := range parked[1:] {
				v.end()
				v = a.next(patience)
				io.CopyN(io.Discard, v, 100)
				go echo(v)
				c.echoed(byte(i), size)
			}
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
		})
	}
}

// Whose turn does not come is told so, proven or not.
func TestTapProvenExpires(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{virtual: "syn-proof=always", pool: "queue-time-limit=1s", members: []string{a.limit(1)}}.start(t)
	busy := p.connect()
	busy.served(patience)
	c := p.connect()
	c.connected(patience)
	c.refused(patience)
	between(t, "expired", time.Since(c.at), time.Second, 1100*time.Millisecond)
	p.ended("QT")
	busy.Close()
}

// A flood of SYNs from addresses that don't exist does not keep honest clients
// from being queued and served.
func TestTapFlood(t *testing.T) {
	tapOnly(t)
	if raced {
		t.Skip("it is not as fast with the race detector")
	}
	for _, proof := range []string{"always", "auto"} {
		t.Run(proof, func(t *testing.T) { flooded(t, proof) })
	}
}

func flooded(t *testing.T, proof string) {
	const rate, limit, honest = 100_000, 10, 20
	span := time.Duration(count(6, 30)) * time.Second
	a := listen(t, "A", lasting(5*time.Millisecond))
	p := setup{
		virtual: "syn-proof=" + proof, pool: "queue-depth-limit=1000,queue-time-limit=20s", members: []string{a.limit(limit)},
	}.start(t)
	p.tidy = false // what is left of the flood
	ctx, stop := context.WithCancel(t.Context())
	var wet sync.WaitGroup
	var sent numbers.Client
	wet.Go(func() {
		var err error
		sent, err = flood.Run(ctx, flood.Config{
			Device: p.link.dev, Target: netip.MustParseAddrPort(p.addr), From: netip.MustParsePrefix("10.0.0.0/8"),
			Work: flood.Flood, Flows: 1, Rate: rate, For: span, Again: flood.Linux, End: flood.Fin,
		}, flood.Events{})
		if err != nil {
			t.Error(err)
		}
	})
	time.Sleep(500 * time.Millisecond)
	var served atomic.Int64
	var mu sync.Mutex
	var waits spread
	var all sync.WaitGroup
	end := time.Now().Add(span - time.Second)
	for i := range honest {
		all.Go(func() {
			for time.Now().Before(end) {
				c, err := p.dial("127.0." + itoa(1+i) + ".1")
				if err != nil {
					t.Error(err)
					return
				}
				if text, err := readLine(c, patience); text == "A" {
					served.Add(1)
				} else {
					t.Errorf("an honest client is not served after %v: %v", time.Since(c.at), err)
				}
				wait := time.Since(c.at)
				io.Copy(io.Discard, c)
				c.Close()
				mu.Lock()
				waits = append(waits, wait)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	stop()
	wet.Wait()
	t.Logf("%d SYNs; %d honest clients served; waits p50 %v, p99 %v, longest %v; most %d at the server",
		sent.Begun, served.Load(), waits.at(0.5), waits.at(0.99), waits.at(1), a.most.Load())
	if n := served.Load(); n < honest {
		t.Errorf("only %d honest clients were served", n)
	}
	if n := a.most.Load(); n > limit {
		t.Errorf("%d at the server; want %d", n, limit)
	}
}
