package cases

import (
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// With a slot free, a FIN straight away is a half-close like any other.
func TestC43ConnectAndFIN(t *testing.T) {
	t.Parallel()
	var ends atomic.Int64
	a := listen(t, "A", func(v *visit) {
		if text, err := readAll(v); text == "" && err == nil {
			ends.Add(1)
		}
		v.greet()
		v.end()
	})
	p := setup{members: []string{a.limit(10)}}.start(t)
	for range 100 {
		c := p.connect()
		c.CloseWrite()
		if how, text := c.ends(patience); how != byFIN || text != "A\n" {
			t.Errorf("%s with %q", how, text)
		}
		c.Close()
	}
	if n := ends.Load(); n != 100 {
		t.Errorf("the server read the end of %d connections", n)
	}
}

// Bulk at full speed on each loop leaves no listener alone.
func TestC56BulkAndShort(t *testing.T) {
	a, noise := listen(t, "A", lasting(0)), newCrowd(t)
	p := setup{
		members: []string{a.addr},
		flags: []string{
			"-virtual", "bulk,listen=127.0.0.1:0,pool=bulk", "-pool", "bulk",
			"-member", noise.stream() + ",pool=bulk",
		},
	}.start(t)
	p.tidy = false                                                 // the noise stays to the end
	noise.bulk(fields(p.awaitLine("virtual=bulk"))["address"], 12) // by their hash, on all 4 loops
	moved := func() float64 { return p.metric(`penstock_pool_bytes_total{direction="down",pool="bulk"}`) }
	await(t, patience, "bulk moves", func() bool { return moved() > 64<<20 })
	start, from := time.Now(), moved()
	times := untroubled{}
	for range count(300, 1000) {
		began := time.Now()
		c := p.connect()
		c.served(patience)
		times.add(began, time.Now())
		io.Copy(io.Discard, c)
		c.Close()
	}
	speed := (moved() - from) / time.Since(start).Seconds()
	took := times.spread()
	t.Logf("short: p50 %v, p99 %v, longest %v, beside %.1f Gb/s", took.at(0.5), took.at(0.99), took.at(1), speed*8/1e9)
	most := 50*time.Millisecond*raceFactor + slack
	if *overTap { // all clients are behind the same queues
		most += 2 * slack
	}
	if p99 := took.at(0.99); p99 > most {
		t.Errorf("short connections: p99 %v", p99)
	}
	noise.leave()
	for _, s := range sockets(t, p.addr) {
		if s.state == listening && s.received != 0 {
			t.Errorf("%d connections in a backlog", s.received)
		}
	}
}

// A parked client can't make the kernel hold much for it, whatever it sends,
// and has the full speed when it is served.
func TestParkedClientSendsAllItCan(t *testing.T) {
	const size = 128 << 20
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	direct := p.connect().upload(a, 0, size)
	v := p.fill(a, 1)[0]
	c := p.connect()
	p.awaitDepth(1)
	written := c.stuff(size)
	held := written - c.unsent()
	t.Logf("parked: the kernel holds %d bytes for it; window scale %d", held, c.windowScale())
	if held > 64<<10 || held <= 0 {
		t.Errorf("a parked client made the kernel hold %d bytes", held)
	}
	if c.windowScale() == 0 {
		t.Error("no window scale")
	}
	v.end()
	began := time.Now()
	released := c.upload(a, written, size)
	direct = max(direct, p.connect().upload(a, 0, size)) // before and after, as others use the machine, too
	t.Logf("after its release %.1f Gb/s; never parked %.1f Gb/s", gbps(size, released), gbps(size, direct))
	if released > 3*direct+slack+stalled(began) {
		t.Errorf("%v for what takes %v without having been parked", released, direct)
	}
}

func gbps(bytes int, d time.Duration) float64 { return float64(bytes) * 8 / d.Seconds() / 1e9 }

// stuff sends until nothing more is taken, and returns how much was.
func (c *client) stuff(most int) (written int) {
	c.t.Helper()
	for b := make([]byte, 64<<10); written < most; {
		c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		n, err := c.Write(b)
		written += n
		if err != nil && endOf(err) != notYet {
			c.t.Fatal(err)
		}
		if n == 0 && written > 0 { // and not that the first time was over before it was tried
			c.SetWriteDeadline(time.Time{})
			return written
		}
	}
	c.t.Fatal("all of it was taken")
	return 0
}

// upload sends bytes up to size, and the end, to a server that takes all. It
// returns how long that took.
func (c *client) upload(a *server, sent, size int) time.Duration {
	c.t.Helper()
	v := a.next(patience)
	start := time.Now()
	go func() {
		for b := make([]byte, 64<<10); sent < size; {
			n, err := c.Write(b[:min(len(b), size-sent)])
			if sent += n; err != nil {
				c.t.Error(err)
				return
			}
		}
		c.CloseWrite()
	}()
	v.SetReadDeadline(start.Add(2 * patience))
	sink := struct{ io.Writer }{io.Discard} // no short cuts
	n, err := io.CopyBuffer(sink, struct{ io.Reader }{v}, make([]byte, 256<<10))
	if n != int64(size) || err != nil {
		c.t.Errorf("%d bytes, %v; want %d", n, err, size)
	}
	took := time.Since(start)
	v.end()
	c.ends(patience)
	c.Close()
	return took
}
