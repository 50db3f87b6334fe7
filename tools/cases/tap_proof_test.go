package cases

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	flood "penstock/bench/syn"
	"penstock/bench/wire"
)

// echo sends back what comes, to the end. Its own end is said when it is counted no
// more: that may let the next one in.
func echo(v *visit) {
	io.Copy(v, v)
	v.end()
}

// echoed sends bytes made from a seed, and checks that they come back.
func (c *client) echoed(seed byte, size int) {
	c.t.Helper()
	if n, err := c.exchange(seed, size); err != nil {
		c.t.Errorf("%d of %d bytes came back: %v", n, size, err)
	}
}

// exchange is echoed, but tells how many came back, and what is wrong.
func (c *client) exchange(seed byte, size int) (n int64, err error) {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	said := make(chan error, 1)
	go func() {
		_, err := c.Write(data)
		c.CloseWrite()
		said <- err
	}()
	sum := sha256.New()
	n, err = io.Copy(sum, steady{c})
	c.Close()
	err = errors.Join(err, <-said) // a reset is told once, to who asks first
	if err == nil && [32]byte(sum.Sum(nil)) != sha256.Sum256(data) {
		err = errors.New("they are others")
	}
	return n, err
}

// steady reads as long as something comes now and then, however long it takes.
type steady struct{ c *client }

func (s steady) Read(b []byte) (int, error) {
	s.c.SetReadDeadline(time.Now().Add(6 * patience))
	return s.c.Read(b)
}

// persistent connects and is echoed. Who is reset while connecting does so again,
// and is counted: see forgiven.
func (p *proxy) persistent(seed byte, size int, again *atomic.Int64) {
	for again.Load() < 1000 {
		c, err := p.dial("")
		if err != nil {
			p.t.Error(err)
			return
		}
		n, err := c.exchange(seed, size)
		if n > 0 || endOf(err) != byReset {
			if err != nil {
				p.t.Errorf("%d of %d bytes came back: %v", n, size, err)
			}
			return
		}
		again.Add(1)
	}
}

// forgiven says that those who were reset while connecting are clients that the
// proxy has given up, since it heard nothing from them for a second or three. That
// is right when the link or the proxy stands still for so long. A bad link may lose
// all that a client says meanwhile, but hardly ever.
func (p *proxy) forgiven(resets int64, since time.Time) {
	p.t.Helper()
	if resets == 0 {
		return
	}
	given := p.metric(`penstock_tap_handshake_timeouts_total{device="` + p.link.dev + `"}`)
	stall := stalledIn(since, time.Now())
	p.t.Logf("%d were reset while connecting; %v handshakes are given up; %v for stalls", resets, given, stall)
	if float64(resets) > given || resets > 2 && stall < time.Second {
		p.t.Errorf("%d were reset while connecting", resets)
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
		virtual: "syn-proof=" + proof, pool: "queue-depth-limit=1000,queue-time-limit=60s", members: []string{a.limit(limit)},
	}.start(t)
	p.tidy = false // what is left of the flood
	ctx, stop := context.WithCancel(t.Context())
	var wet sync.WaitGroup
	var begun uint64
	wet.Go(func() { begun = p.pour(ctx, rate, span) })
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
				if text, err := readLine(c, 3*patience); text == "A" {
					served.Add(1)
					inTime(t, "an honest client is served", c.at, patience)
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
		begun, served.Load(), waits.at(0.5), waits.at(0.99), waits.at(1), a.most.Load())
	if n := served.Load(); n < honest {
		t.Errorf("only %d honest clients were served", n)
	}
	if n := a.most.Load(); n > limit {
		t.Errorf("%d at the server; want %d", n, limit)
	}
}

// pour floods the proxy for a time, and returns with how many SYNs. It does so at a
// rate, or at what the device takes: where nobody reads what comes, on a busy
// machine, honest SYNs are lost before penstock could tell them from the others.
func (p *proxy) pour(ctx context.Context, rate int, span time.Duration) (begun uint64) {
	const least, slice = 1000, 250 * time.Millisecond
	for start, now := time.Now(), rate; time.Since(start) < span && ctx.Err() == nil; {
		sent, err := flood.Run(ctx, flood.Config{
			Device: p.link.dev, Target: netip.MustParseAddrPort(p.addr), From: netip.MustParsePrefix("10.0.0.0/8"),
			Work: flood.Flood, Flows: 1, Rate: now, For: slice, Again: flood.Linux, End: flood.Fin,
		}, flood.Events{})
		if err != nil && !errors.Is(err, wire.ErrSilent) {
			p.t.Error(err)
			return begun
		}
		begun += sent.Begun
		if now = min(now+now/4, rate); err != nil || sent.Handshakes.Dropped > 0 {
			now = max(now/2, least)
		}
	}
	return begun
}
