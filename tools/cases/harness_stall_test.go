package cases

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stalls is what each processor keeps from who wants to run there, noted from
// the begin of the tests on. It is the control for the upper bounds on times: on
// a busy or halted machine no proxy is quicker, and one that is at fault is late
// when nobody else is.
var stalls struct {
	sync.Mutex
	all  []stall
	naps []*atomic.Int64 // how many have ended, and are noted, on each processor
}

// stall is a span in which a thread that slept should have run.
type stall struct {
	due, ran time.Time
	cpu      int
}

const (
	nap      = 5 * time.Millisecond
	oversaid = time.Millisecond // by as much any sleep may be longer

	// A client's thread, the proxy's and the server's have to wait one after the
	// other, and who has worked waits longer than who slept.
	hops = 3

	// So much is forgiven for stalls at most: who is stuck is so on a busy
	// machine, too.
	mostStalled = 10 * time.Second
)

// noteStalls begins to note them; end ends it.
func noteStalls() (end func()) {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return func() {}
	}
	var over atomic.Bool
	var all sync.WaitGroup
	for cpu := range len(allowed) * 64 {
		if allowed.IsSet(cpu) {
			ended := new(atomic.Int64)
			stalls.naps = append(stalls.naps, ended)
			all.Go(func() {
				napOn(cpu, &over, ended)
				ended.Store(math.MaxInt64) // nobody waits for one more
			})
		}
	}
	return func() { over.Store(true); all.Wait() }
}

// napOn sleeps again and again on a processor, on a thread that ends with it.
func napOn(cpu int, over *atomic.Bool, ended *atomic.Int64) {
	runtime.LockOSThread()
	var only unix.CPUSet
	only.Set(cpu)
	if unix.SchedSetaffinity(0, &only) != nil {
		return
	}
	for !over.Load() {
		due := time.Now().Add(nap)
		length := unix.NsecToTimespec(int64(nap))
		unix.Nanosleep(&length, nil)
		if ran := time.Now(); ran.Sub(due) > oversaid {
			stalls.Lock()
			stalls.all = append(stalls.all, stall{due, ran, cpu})
			stalls.Unlock()
		}
		ended.Add(1)
	}
}

// noted waits until a stall that has just ended is noted on each processor: who
// was held up may run before those who nap there.
func noted() {
	for _, ended := range stalls.naps {
		for before := ended.Load(); ended.Load() == before && before < math.MaxInt64; {
			time.Sleep(time.Millisecond)
		}
	}
}

// stalled is what is forgiven for stalls since a moment.
func stalled(since time.Time) time.Duration {
	to := time.Now()
	noted()
	return min(hops*stalledIn(since, to), mostStalled)
}

// stalledIn is for how long the processor that stalled most did so in a span, all
// in all, as far as it is noted.
func stalledIn(from, to time.Time) (most time.Duration) {
	by := map[int]time.Duration{}
	stalls.Lock()
	defer stalls.Unlock()
	for i := len(stalls.all) - 1; i >= 0; i-- {
		s := stalls.all[i]
		if from.Sub(s.ran) > time.Minute { // and so are all before it
			break
		}
		if s.due.Before(from) {
			s.due = from
		}
		if s.ran.After(to) {
			s.ran = to
		}
		by[s.cpu] += max(0, s.ran.Sub(s.due))
		most = max(most, by[s.cpu])
	}
	return most
}

// tardy is by how much it is later than within some time after a moment, but for
// the stalls since then; 0 if it is not.
func tardy(since time.Time, within time.Duration) time.Duration {
	took := time.Since(since)
	if took <= within {
		return 0
	}
	return max(0, took-within-stalled(since))
}

// untroubled are spans of time, each without the stalls in it.
type untroubled []struct{ from, to time.Time }

func (u *untroubled) add(from, to time.Time) {
	*u = append(*u, struct{ from, to time.Time }{from, to})
}

// spread returns what they took, when all stalls have been noted.
func (u untroubled) spread() (s spread) {
	noted()
	for _, x := range u {
		d := x.to.Sub(x.from)
		s = append(s, d-min(d, stalledIn(x.from, x.to)))
	}
	return s
}

// inTime says that it is within some time after a moment, but for stalls.
func inTime(t testing.TB, what string, since time.Time, within time.Duration) {
	t.Helper()
	if late := tardy(since, within); late > 0 {
		t.Errorf("%s %v later than within %v, and for so long nothing stalled", what, late, within)
	}
}
