package device

import (
	"time"

	"penstock/stack/sys"
)

// A turn that wrote many frames has woken up many who want to read them. On a
// processor of which they want a part, too, they run after the loop has gone to
// sleep, and wake it up with the first answer, and take turns with it frame by
// frame. If the loop lets them run at once, it finds their answers all together:
// it sleeps and wakes less often, and turns have twice as many frames. With a
// processor to itself the loop gets it back at once.
//
// But the kernel takes a loop that gives the processor away at its word: those who
// have no end of work get it for milliseconds. So after a long rest there is none
// for a while, which bounds what they get by a fraction of the time.
const (
	restAfter = 8 // frames
	restLong  = 500 * time.Microsecond
	restEvery = 30 // times the long rest until the next one
)

type rest struct {
	not time.Time // before that
	n   int64     // how many there were
}

func (r *rest) take() {
	now := time.Now()
	if now.Before(r.not) {
		return
	}
	sys.Yield()
	r.n++
	r.took(now, time.Since(now))
}

// took notes how long a rest was.
func (r *rest) took(since time.Time, d time.Duration) {
	if d > restLong {
		r.not = since.Add(restEvery * d)
	}
}
