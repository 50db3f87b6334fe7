package route

import (
	"sync/atomic"
	"time"

	"penstock/stack/tap/frame"
)

// How a next hop is asked for its Ethernet address. RFC 4861 10 has a second
// between questions to all; a server that is there answers in less than one
// millisecond, and clients wait.
const (
	tries  = 3                             // questions, before it counts as failed
	gap    = int64(250 * time.Millisecond) // between them
	again  = int64(time.Second)            // between questions to who has failed
	fresh  = int64(30 * time.Second)       // how long an answer is good, before it is to be confirmed
	forget = int64(5 * time.Second)        // not asked for that long: it is asked as if for the first time
)

// hop is a host of the servers' link.
//
//	        heard                    30 s, in use
//	asking -------> known (fresh) ----------------> known (asked by unicast)
//	   |  ^                       <----------------     |
//	   |  |                             heard           | 3 questions, no answer
//	   |  `---------------------------------------------´
//	   | 3 questions to all, no answer
//	   v
//	failed: asked each second, as long as somebody wants it
//
// Whoever asks for it moves it on; what is heard makes it known from anywhere.
type hop struct {
	// Constant.
	addr   frame.Addr
	from   frame.Addr // ours, that asks
	number uint16

	// Written under the Table's lock, but for used; read by any loop.
	word  atomic.Uint64 // the MAC and known
	due   atomic.Int64  // when it is to be asked
	fails atomic.Int64  // when it counts as failed if nothing is heard; 0: not yet
	used  atomic.Int64  // when somebody wanted it, to a second

	// Under the Table's lock.
	asked int   // questions since it was heard, or since asking began anew
	last  int64 // when the last one was
	heard int64 // when somebody last said where it is
}

// known is in hop.word if the rest of it is a MAC.
const known = 1 << 48

func (h *hop) mac() (m frame.MAC, ok bool) {
	w := h.word.Load()
	return frame.MACOf(w), w&known != 0
}

// failed: nobody answered.
func (h *hop) failed(now int64) bool {
	at := h.fails.Load()
	return at != 0 && now >= at
}

// wake is when whoever waits for h wants to look at it again.
func (h *hop) wake(now int64) int64 {
	due := h.due.Load()
	if at := h.fails.Load(); at > now {
		due = min(due, at)
	}
	return due
}

// touch notes that h is in use.
func (h *hop) touch(now int64) {
	if now-h.used.Load() >= int64(time.Second) {
		h.used.Store(now)
	}
}

// hear takes over what somebody said.
func (h *hop) hear(mac frame.MAC, now int64) {
	h.heard, h.asked = now, 0
	h.fails.Store(0)
	h.due.Store(now + fresh)
	h.word.Store(mac.Word() | known)
}

// doubt has h asked soon, but not more than once a second.
func (h *hop) doubt(now int64) {
	if h.asked == 0 {
		h.due.Store(min(h.due.Load(), max(now, h.heard+again)))
	}
}

// ask says to whom the question goes that is due now.
func (h *hop) ask(now int64) (to frame.MAC) {
	if h.asked > 0 && now-h.last >= forget {
		h.asked = 0
		h.fails.Store(0)
	}
	to, isKnown := h.mac()
	if isKnown && h.asked >= tries {
		isKnown, h.asked = false, 0
		h.word.Store(0)
	}
	if !isKnown {
		to = frame.Broadcast
	}
	h.last = now
	h.asked = min(h.asked+1, tries+1)
	pause := gap
	if !isKnown && h.asked >= tries {
		pause = again
		if h.asked == tries {
			h.fails.Store(now + gap)
		}
	}
	h.due.Store(now + pause)
	return to
}

// appendTo appends the question.
func (h *hop) appendTo(b []byte, own, to frame.MAC) []byte {
	if frame.Is4(&h.addr) {
		return frame.AppendARPRequest(b, own, to, &h.from, &h.addr)
	}
	return frame.AppendSolicit(b, own, to, &h.from, &h.addr)
}
