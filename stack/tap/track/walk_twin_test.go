package track

import "testing"

// Both close in the end, whatever happened on the way, and then it ends by itself,
// and in order.
func TestTwinCloses(t *testing.T) {
	walk(t, func(w *world) {
		w.peers[Client].connect()
		for range 300 {
			w.step()
			if p := &w.peers[w.rnd.IntN(2)]; p.state == open && w.rnd.IntN(150) == 0 {
				p.close()
			}
		}
		w.finish(func(p *peer) { p.close() })
		if w.how != Ended {
			w.fatal("it has not ended, but %v", w.how)
		}
	})
}

// finish connects them first, if they are not: else there is nothing to close.
func (w *world) finish(end func(p *peer)) {
	for range 20 {
		w.smooth(1)
		if w.peers[Server].state == open && w.peers[Client].state == open {
			break
		}
	}
	for i := range w.peers {
		end(&w.peers[i])
	}
	w.smooth(60)
}

// One side or the other resets it some time.
func TestTwinResets(t *testing.T) {
	walk(t, func(w *world) {
		w.peers[Client].connect()
		for range 300 {
			w.step()
			switch w.rnd.IntN(200) {
			case 0:
				w.peers[w.rnd.IntN(2)].close()
			case 1:
				w.peers[w.rnd.IntN(2)].abort()
			}
		}
		w.finish(func(p *peer) {
			if w.rnd.IntN(2) == 0 {
				p.abort()
			} else {
				p.close()
			}
		})
		w.timeout()
	})
}

// A client vanishes, a server is started anew, the proxy has had enough: timers of
// ours do the rest.
func TestTwinVanishes(t *testing.T) {
	walk(t, func(w *world) {
		w.peers[Client].connect()
		for range 300 {
			w.step()
			switch w.rnd.IntN(400) {
			case 0:
				w.peers[Client].state = vanished
			case 1:
				w.end()
			case 2:
				w.peers[w.rnd.IntN(2)].abort()
			case 3:
				w.peers[Server].drop()
			}
		}
		w.peers[Client].close()
		w.smooth(20)
		w.timeout()
	})
}

// Somebody who guesses right only makes it end by our timers.
func TestTwinGuesses(t *testing.T) {
	walk(t, func(w *world) {
		w.guess = true
		w.peers[Client].connect()
		for range 400 {
			w.step()
			if p := &w.peers[w.rnd.IntN(2)]; p.state == open && w.rnd.IntN(100) == 0 {
				p.close()
			}
		}
		w.smooth(20)
		w.timeout()
	})
}

// timeout ends what would not end by itself, and it has to.
func (w *world) timeout() {
	if w.held {
		w.end()
		w.smooth(20)
	}
	if w.held && w.c.State() != 0 {
		w.fatal("it never ended")
	}
}
