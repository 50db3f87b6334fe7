package route

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"penstock/stack/tap/frame"
)

// Table is what is known of a servers' link. Any goroutine may call anything.
type Table struct {
	// Constant.
	link link
	mac  frame.MAC

	// Replaced under mu, read by any.
	hops  atomic.Pointer[[]*hop] // by number; 0 is none
	index atomic.Pointer[index]

	// Of whoever changes the above, or what a hop has under it. It is held for a
	// few hundred nanoseconds, but for the growth of the index.
	mu sync.Mutex
	// now is the last time that was passed in under mu.
	now int64
}

const (
	// most is how many hops there are numbers for.
	most = math.MaxUint16
	// rest is how long a number was of no use to anybody before it is another
	// hop's, when all are given out.
	rest = int64(24 * time.Hour)
	// lull is how long a hop was of no use before it is no longer kept fresh.
	lull = int64(10 * time.Second)
)

// New returns a Table in which nobody has been asked for.
func New(c Config) *Table {
	t := &Table{link: newLink(&c), mac: c.MAC}
	t.hops.Store(&[]*hop{nil})
	t.index.Store(newIndex(nil, 0))
	return t
}

// Hop returns the number of the next hop for a server, from 1 on; !ok: there is
// no way to it. The number is good as long as MAC or Ask is called for it once in
// a day.
func (t *Table) Hop(server *frame.Addr) (n uint16, ok bool) {
	a, from, ok := t.link.hop(server)
	if !ok {
		return 0, false
	}
	if h := t.index.Load().find(a); h != nil {
		return h.number, true
	}
	return t.add(a, from)
}

// at returns the hop of a number, nil if there is none.
func (t *Table) at(n uint16) *hop {
	hops := *t.hops.Load()
	if int(n) >= len(hops) {
		return nil
	}
	return hops[n]
}

// MAC returns the Ethernet address of a hop; !ok: it is not known, or not yet,
// and is to be asked for.
func (t *Table) MAC(n uint16, now int64) (mac frame.MAC, ok bool) {
	h := t.at(n)
	if h == nil {
		return mac, false
	}
	h.touch(now)
	return h.mac()
}

// Failed says that a hop was asked for and did not answer.
func (t *Table) Failed(n uint16, now int64) bool {
	h := t.at(n)
	return h != nil && h.failed(now)
}

// Ask appends to b the question that is due now, a whole frame, or nothing. The
// caller sends it, and asks again when due if it still wants to know. Of several
// loops that do, one gets the frame.
func (t *Table) Ask(n uint16, now int64, b []byte) (frame []byte, due int64) {
	h := t.at(n)
	if h == nil {
		return b, math.MaxInt64
	}
	h.touch(now)
	return t.ask(h, now, b), h.wake(now)
}

func (t *Table) ask(h *hop, now int64, b []byte) []byte {
	if now < h.due.Load() {
		return b
	}
	t.mu.Lock()
	if now < h.due.Load() { // another loop was here, or an answer
		t.mu.Unlock()
		return b
	}
	t.now = now
	to := h.ask(now)
	t.mu.Unlock()
	return h.appendTo(b, t.mac, to)
}

// Doubt says that a hop may not be where it was, since somebody behind it does
// not answer: it is asked as soon as it was not heard for a second.
func (t *Table) Doubt(n uint16, now int64) {
	h := t.at(n)
	if h == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h.doubt(now)
}

// Turn asks for all hops that are in use and due, and hands each question to
// send, which must not keep it: b is used for all. One loop calls it when due at
// the latest.
func (t *Table) Turn(now int64, b []byte, send func(frame []byte)) (due int64) {
	due = now + int64(time.Second)
	for _, h := range *t.hops.Load() {
		if h == nil || now-h.used.Load() >= lull {
			continue
		}
		if q := t.ask(h, now, b[:0]); len(q) > 0 {
			send(q)
		}
		due = min(due, h.wake(now))
	}
	return due
}
