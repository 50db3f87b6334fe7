package accesslog

import "time"

// hang tells when something has taken nothing for stuckTime. It counts in parts, each
// begun when the one before it has ended: a machine that stands still takes one of
// them away, and not all of the time in which the writer could have gone on.
type hang struct {
	over  chan struct{} // closed then
	timer *time.Timer
	part  time.Duration
	left  int // parts
}

const hangParts = 10

func newHang() *hang {
	h := &hang{over: make(chan struct{}), part: stuckTime / hangParts, left: hangParts}
	h.timer = time.AfterFunc(time.Hour, h.tick)
	h.timer.Reset(h.part) // not before there is one that tick can reset
	return h
}

func (h *hang) tick() {
	if h.left--; h.left == 0 {
		close(h.over)
		return
	}
	h.timer.Reset(h.part)
}

// stop ends it; a tick that is under way lets it end by itself.
func (h *hang) stop() { h.timer.Stop() }
