package syn

import "time"

// Schedule is when a SYN is sent again that nobody answers.
type Schedule string

const (
	Linux   Schedule = "linux"   // after 1, 2, 3, 4, 5, 7, 11, 19, 35 s ..., as since Linux 6.5
	Backoff Schedule = "backoff" // after 1, 3, 7, 15, 31 s ..., as RFC 6298 has it
	Old     Schedule = "old"     // after 3, 9, 21, 45 s ..., as RFC 1122 had it: half the load
	None    Schedule = "none"    // never: the proxy takes them for gone after some seconds
)

func scheduleNames() []string {
	return []string{string(Linux), string(Backoff), string(Old), string(None)}
}

// times are those since the first SYN, for an hour.
func (s Schedule) times() (all []time.Duration) {
	gap, linear := time.Second, 0
	switch s {
	case None:
		return nil
	case Linux:
		linear = 4
	case Old:
		gap = 3 * time.Second
	}
	for at := gap; at <= MostTime; at += gap {
		all = append(all, at)
		if len(all) > linear {
			gap *= 2
		}
	}
	return all
}

// repeats finds the handshakes whose SYN is due again. They all follow one
// schedule and began in the order of their numbers, so each of its times is a
// mark that moves through them once.
type repeats struct {
	after []int64 // ns
	next  []uint32
}

func newRepeats(s Schedule) *repeats {
	r := new(repeats)
	for _, d := range s.times() {
		r.after = append(r.after, int64(d))
	}
	r.next = make([]uint32, len(r.after))
	return r
}

// due returns a number below opened that is due, each once for each time. start
// tells when one began.
func (r *repeats) due(now int64, opened uint32, start func(uint32) int64) (n uint32, ok bool) {
	for k := range r.next {
		if n := r.next[k]; n < opened && start(n)+r.after[k] <= now {
			r.next[k]++
			return n, true
		}
	}
	return 0, false
}

// soonest is when the next one is due; never if nobody is.
func (r *repeats) soonest(opened uint32, start func(uint32) int64) int64 {
	at := int64(never)
	for k, n := range r.next {
		if n < opened {
			at = min(at, start(n)+r.after[k])
		}
	}
	return at
}
