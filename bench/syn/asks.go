package syn

import (
	"time"

	"penstock/bench/tally"
	"penstock/bench/wire"
)

// asks is whose turn it is to ask, and when, once all are connected: each once
// before any of them again, in an order that looks like chance, so that no proxy
// finds the next one beside the last.
type asks struct {
	rate   int   // a second
	began  int64 // never: they don't ask
	asked  int64
	paused int64 // how much the rate was slipped by

	n, at, step uint32
}

func noAsks() asks { return asks{began: never} }

// begin has n connections ask from now on.
func (a *asks) begin(n uint32, rate int, now int64) {
	*a = asks{rate: rate, began: now, n: n, step: stride(n)}
}

// stride is about 0.618 n, and has no divisor with it.
func stride(n uint32) uint32 {
	step := uint32(float64(n)*0.6180339887) | 1
	for divisor(step, n) != 1 {
		step += 2
	}
	return step
}

func divisor(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// next is when somebody is to ask.
func (a *asks) next() int64 {
	if a.began == never || a.n == 0 {
		return never
	}
	return a.began + a.paused + a.asked*int64(time.Second)/int64(a.rate)
}

// take is whose turn it is, and since when. Far behind the rate it is slipped, as
// the generator's of handshakes is.
func (a *asks) take(now int64) (n uint32, due int64) {
	due = a.next()
	a.paused += max(now-due-int64(lag), 0)
	a.asked++
	n = a.at
	a.at = uint32((uint64(a.at) + uint64(a.step)) % uint64(a.n))
	return n, due
}

// askNext has the next one ask. Who waits for its response still has no turn, or
// sends its request again if that was long ago.
func (g *generator) askNext(now int64) {
	const long = int64(time.Second)
	n, due := g.asks.take(now)
	r := g.flows.at(n)
	if r.state != up {
		return
	}
	g.tally.Lag.Record(now - due)
	switch c := &g.conns[r.conn]; {
	case c.due == 0:
		c.due, c.asked = due, now
		g.asking++
		g.ask(n, c, g.cfg.Request)
	case now-c.asked > long:
		c.seq -= uint32(g.cfg.Request)
		c.asked = now
		g.tally.Handshakes.Again++
		g.ask(n, c, g.cfg.Request)
	}
}

// answeredAsk is for a response that is whole, or not yet; ok is false if it is
// wrong.
func (g *generator) answeredAsk(n uint32, r *record, c *conn) (ok bool) {
	switch {
	case c.ended:
		g.abort(n, r, c, tally.Empty)
		return false
	case c.due == 0 || c.got > g.cfg.Response:
		g.abort(n, r, c, tally.Excess)
		return false
	case c.got < g.cfg.Response:
		return true
	}
	if g.counting {
		g.tally.Outcomes[tally.Served]++
		g.tally.Latency.Record(g.now() - c.due)
	}
	if !c.carried {
		c.carried = true
		g.tally.Handshakes.Carried++
	}
	c.due, c.got = 0, 0
	g.asking--
	return true
}

// connect goes on until all that were opened are connected, or nobody else will
// be soon.
func (r *run) connect() error {
	const patience = 5 * time.Second
	err := r.while(r.now()+int64(patience), func() bool { return r.connected < uint64(r.standing) })
	r.tally.Handshakes.Stood = r.connected
	return err
}

// rest goes on, uncounted, until each has asked once, and then waits for the
// responses that are on their way. It takes no longer than what was counted.
func (r *run) rest() error {
	end := r.now() + int64(r.cfg.For)
	err := r.while(end, func() bool { return r.asks.asked < int64(r.asks.n) })
	r.asks = noAsks()
	if err == nil {
		err = r.while(r.now()+int64(r.cfg.Drain), func() bool { return r.asking > 0 })
	}
	r.tally.Outcomes[tally.Overdue] += uint64(r.asking)
	return err
}

// while goes on as long as something is so, to an end.
func (r *run) while(end int64, so func() bool) error {
	for so() && r.now() < end && !r.stopped.Load() {
		if err := r.until(r.now() + int64(10*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// sound says that a frame's checksums are right, if it has such. The kernel leaves
// them out on a local link.
func (g *generator) sound(frame []byte, h *wire.Heard) bool {
	if h.Length != len(h.Payload) || g.rx.Partial() || wire.Sound(frame) {
		return true
	}
	g.tally.Handshakes.Bad++
	return false
}
