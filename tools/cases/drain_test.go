package cases

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// drainTime is long enough for all that has to be done before it is over, on a
// machine that stalls.
const drainTime = 4 * time.Second

// drainOf starts a proxy with five connected and five waiting, and has it drain.
func drainOf(t *testing.T) (p *proxy, a *server, in []*visit, waiting []*client, at time.Time) {
	t.Helper()
	a = listen(t, "A", nil)
	p = setup{members: []string{a.limit(5)}, flags: []string{"-drain-time", drainTime.String()}}.start(t)
	in = p.fill(a, 5)
	waiting = p.connectMany(5)
	p.awaitDepth(5)
	p.keepPort()
	at = time.Now()
	p.signal(syscall.SIGTERM)
	p.awaitLine("draining")
	await(t, atOnce, "newcomers refused", func() bool { return !p.listens() })
	return p, a, in, waiting, at
}

// SIGTERM: who is connected stays, who is parked is served, and at drain-time
// it is over.
func TestC60Drain(t *testing.T) {
	t.Parallel()
	p, a, in, waiting, start := drainOf(t)
	for _, v := range in[:3] {
		v.end()
		a.next(patience).greet()
	}
	served := make(chan *client, len(waiting)) // they came all at once: any three of them
	for _, c := range waiting {
		go func() {
			if c.greeting(patience) == "A" {
				served <- c
			}
		}()
	}
	await(t, patience, "three of the waiters are served", func() bool { return len(served) == 3 })
	a.nobody(300 * time.Millisecond)
	await(t, patience, "it ends", p.gone)
	between(t, "it ends", time.Since(start), drainTime, drainTime+300*time.Millisecond)
	if n := len(served); n != 3 {
		t.Errorf("%d of the waiters are served; want 3", n)
	}
	for range 3 {
		c := <-served
		if how, _ := c.ends(patience); how != byReset {
			t.Errorf("cut by %s", how)
		}
	}
}

// When the last one has gone, there is nothing to wait for.
func TestC60DrainEndsEarly(t *testing.T) {
	t.Parallel()
	p, _, in, waiting, _ := drainOf(t)
	for _, c := range waiting {
		c.reset()
	}
	for _, v := range in {
		v.end()
	}
	await(t, drainTime/4, "it ends", p.gone)
}

// A second signal: now.
func TestC60SecondSignal(t *testing.T) {
	t.Parallel()
	p, _, _, _, _ := drainOf(t)
	second := time.Now()
	p.signal(syscall.SIGTERM)
	await(t, patience, "it ends", p.gone)
	between(t, "it ends", time.Since(second), 0, 200*time.Millisecond)
}

// SIGTERM under load loses no byte of what is being served, nor of what waits.
func TestDrainLosesNoByte(t *testing.T) {
	t.Parallel()
	const clients, size = 24, 2 << 20
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	want := sha256.Sum256(data)
	a := listen(t, "A", func(v *visit) { // sends back what comes, in no hurry
		b := make([]byte, 32<<10)
		for {
			n, err := v.Read(b)
			if _, werr := v.Write(b[:n]); err != nil || werr != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		v.end()
	})
	p := setup{members: []string{a.limit(8)}, pool: "queue-time-limit=60s", flags: []string{"-drain-time", "60s"}}.start(t)
	var all sync.WaitGroup
	var begun atomic.Int64
	for _, c := range p.connectMany(clients) {
		all.Go(func() {
			go func() {
				io.Copy(c, bytes.NewReader(data))
				c.CloseWrite()
			}()
			c.SetReadDeadline(time.Now().Add(2 * patience))
			sum, first := sha256.New(), make([]byte, 1)
			n, err := io.ReadFull(c, first)
			sum.Write(first[:n])
			begun.Add(1)
			m, err2 := io.Copy(sum, c)
			if err != nil || err2 != nil || !bytes.Equal(sum.Sum(nil), want[:]) {
				t.Errorf("%d of %d bytes came back, %v %v", int64(n)+m, size, err, err2)
			}
			c.Close()
		})
	}
	await(t, patience, "all slots are in use", func() bool { return begun.Load() >= 8 })
	p.signal(syscall.SIGTERM)
	all.Wait()
	await(t, patience, "it ends", p.gone)
	if p.linesWith("drained") != 1 {
		t.Error("it does not say that it is drained")
	}
}
