package impair

import (
	"container/heap"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Faults are what happens to frames, in both directions. Shares are of 1.
type Faults struct {
	Loss    float64       // the share of frames that are lost
	Repeat  float64       // ... that come twice
	Reorder float64       // ... that come Late
	Delay   time.Duration // of each frame
	Late    time.Duration // on top of Delay, for those that are reordered
	Seed    uint64
	Room    int // frames under way in a direction; more are lost; 0: 1<<16
}

// Counts tells of one direction.
type Counts struct {
	Frames, Bytes             uint64 // that came in
	Lost, Repeated, Reordered uint64
	Crowded                   uint64 // lost because there was no room
	Failed                    uint64 // the other end did not take them
}

// Link joins two ends. Whoever joined them must Close it, and may not use the
// ends any more.
type Link struct {
	ends [2]io.ReadWriteCloser
	ways [2]*way
	all  sync.WaitGroup
}

// Join begins to copy frames between a and b, where a Read and a Write are a
// frame each.
func Join(a, b io.ReadWriteCloser, f Faults) *Link {
	l := &Link{ends: [2]io.ReadWriteCloser{a, b}}
	for i := range l.ways {
		w := newWay(f, uint64(i))
		l.ways[i] = w
		l.all.Go(func() { w.take(l.ends[i]) })
		l.all.Go(func() { w.give(l.ends[1-i]) })
	}
	return l
}

// Counts returns what went from a to b, and from b to a, so far.
func (l *Link) Counts() (there, back Counts) { return l.ways[0].counts(), l.ways[1].counts() }

// Close closes both ends, and returns when nothing is under way any more.
func (l *Link) Close() {
	for i := range l.ends {
		l.ends[i].Close()
		l.ways[i].close()
	}
	l.all.Wait()
}

// way is one direction.
type way struct {
	faults Faults
	fate   *rand.Rand // of take only

	mu     sync.Mutex
	count  Counts
	frames frames
	closed bool
	kick   chan struct{} // the first of frames is another one, or closed is set
}

func newWay(f Faults, i uint64) *way {
	if f.Room == 0 {
		f.Room = 1 << 16
	}
	return &way{faults: f, fate: rand.New(rand.NewPCG(f.Seed, i)), kick: make(chan struct{}, 1)}
}

func (w *way) counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

func (w *way) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake()
}

func (w *way) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// mostFrame is more than any frame has, headers included.
const mostFrame = 64<<10 + 256

// take reads until the end is closed.
func (w *way) take(from io.Reader) {
	for b := make([]byte, mostFrame); ; {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if n > 0 {
			w.judge(b[:n], time.Now())
		}
	}
}

// judge says what becomes of a frame. It asks for the same number of chances
// for each, so that one fault does not change the others.
func (w *way) judge(b []byte, now time.Time) {
	f := &w.faults
	lost, twice, late := w.fate.Float64() < f.Loss, w.fate.Float64() < f.Repeat, w.fate.Float64() < f.Reorder
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.Frames++
	w.count.Bytes += uint64(len(b))
	if lost {
		w.count.Lost++
		return
	}
	due := now.Add(f.Delay)
	if twice {
		w.count.Repeated++
		w.push(b, due)
	}
	if late {
		w.count.Reordered++
		due = due.Add(f.Late)
	}
	w.push(b, due)
}

// push needs the lock.
func (w *way) push(b []byte, due time.Time) {
	if len(w.frames) >= w.faults.Room {
		w.count.Crowded++
		return
	}
	n := w.count.Frames<<1 | w.count.Repeated&1 // of two with the same time, the older
	heap.Push(&w.frames, frame{append([]byte(nil), b...), due, n})
	if w.frames[0].n == n {
		w.wake()
	}
}

// give writes frames when they are due, until the way is closed.
func (w *way) give(to io.Writer) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		b, wait, closed := w.next(time.Now())
		switch {
		case closed:
			return
		case b != nil:
			if _, err := to.Write(b); err != nil {
				w.mu.Lock()
				w.count.Failed++
				w.mu.Unlock()
			}
		default:
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-w.kick:
			}
		}
	}
}

// next returns the next frame if it is due, else how long it is until then.
func (w *way) next(now time.Time) (b []byte, wait time.Duration, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.frames) == 0 {
		return nil, time.Hour, w.closed
	}
	if wait = w.frames[0].due.Sub(now); wait > 0 {
		return nil, wait, false
	}
	return heap.Pop(&w.frames).(frame).bytes, 0, false
}

// frame is under way.
type frame struct {
	bytes []byte
	due   time.Time
	n     uint64
}

// frames is a heap, the one that is due first in front.
type frames []frame

func (f frames) Len() int { return len(f) }
func (f frames) Less(i, k int) bool {
	if !f[i].due.Equal(f[k].due) {
		return f[i].due.Before(f[k].due)
	}
	return f[i].n < f[k].n
}
func (f frames) Swap(i, k int) { f[i], f[k] = f[k], f[i] }
func (f *frames) Push(x any)   { *f = append(*f, x.(frame)) }
func (f *frames) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	(*f)[last] = frame{}
	*f = (*f)[:last]
	return x
}
