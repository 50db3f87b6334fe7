package pass

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/stack/tap/device"
)

// loops are threads that pass frames to each other, and sleep when Take allows
// it, on a channel that holds one wake, as an eventfd does.
type loops struct {
	*Mesh
	bells  []chan struct{}
	sleeps atomic.Int64
	wakes  atomic.Int64
	over   chan struct{}
}

func newLoops(n, bytes int) *loops {
	l := &loops{over: make(chan struct{})}
	for range n {
		l.bells = append(l.bells, make(chan struct{}, 1))
	}
	l.Mesh = New(n, bytes, func(loop int) {
		l.wakes.Add(1)
		select {
		case l.bells[loop] <- struct{}{}:
		default:
		}
	})
	return l
}

// sleep waits to be woken; not ok: all is over.
func (l *loops) sleep(own int) bool {
	l.sleeps.Add(1)
	select {
	case <-l.bells[own]:
		return true
	case <-l.over:
		return false
	}
}

// wait fails the test when the loops do not end: somebody sleeps on. It is the
// only clock here, and the test does not depend on how long it is.
func (l *loops) wait(t *testing.T, wg *sync.WaitGroup) {
	t.Helper()
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		close(l.over)
		t.Error("somebody sleeps while there are frames for it")
		<-ended
	}
	t.Logf("%d sleeps, %d wakes", l.sleeps.Load(), l.wakes.Load())
}

// One loop writes, and waits now and then until all it wrote has been taken;
// one takes and sleeps as soon as it may. Nothing is lost, changed or out of
// order, and the taker is always woken.
func TestSleepAndWake(t *testing.T) {
	const frames = 200_000
	l := newLoops(2, 1<<17)
	var taken atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		rnd := rand.New(rand.NewPCG(1, 1))
		b := make([]byte, 2000)
		for i := int64(0); i < frames; {
			binary.NativeEndian.PutUint64(b, uint64(i))
			h := vnetOf(uint32(i))
			if l.Put(0, 1, uint8(i), &h, b[:100], b[100:100+rnd.IntN(1900)]) {
				i++
			}
			for rnd.IntN(3) == 0 && taken.Load() < i && !l.isOver() {
				runtime.Gosched()
			}
			if l.isOver() {
				return
			}
		}
	})
	wg.Go(func() {
		for n := int64(0); n < frames; {
			more := l.Take(1, 50, func(from int, tag uint8, h *device.VNet, b []byte) {
				if got := int64(binary.NativeEndian.Uint64(b)); got != n || tag != uint8(n) || *h != vnetOf(uint32(n)) {
					t.Errorf("frame %d, should be %d", got, n)
				}
				n++
				taken.Store(n)
			})
			if !more && n < frames && !l.sleep(1) {
				return
			}
		}
	})
	l.wait(t, &wg)
}

func (l *loops) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// Four loops pass frames on until each has made its way, from the very call that
// takes them; each sleeps whenever it has nothing. There is room for all that are
// on their way at a time, so none is lost.
func TestPassedOn(t *testing.T) {
	const n, frames, atOnce, ways = 4, 2000, 4, 20
	l := newLoops(n, n*atOnce*9000)
	var begun, ended atomic.Uint32
	var wg sync.WaitGroup
	for own := range n {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(own), 2))
			buffer := make([]byte, 9000)
			pass := func(b []byte, h *device.VNet, ways uint8) {
				cut := rnd.IntN(len(b) + 1)
				if !l.Put(own, rnd.IntN(n), ways, h, b[:cut], b[cut:]) {
					panic("a frame is lost, though there is room")
				}
			}
			begin := func() {
				number := begun.Add(1)
				if number > frames {
					return
				}
				b := buffer[:100+rnd.IntN(8000)]
				binary.NativeEndian.PutUint32(b, number)
				fill(b[4:], number)
				h := vnetOf(number)
				pass(b, &h, ways)
			}
			take := func(from int, ways uint8, h *device.VNet, b []byte) {
				number := binary.NativeEndian.Uint32(b)
				if *h != vnetOf(number) || !bytes.Equal(b[4:], fill(buffer[:len(b)-4], number)) {
					t.Errorf("frame %d of %d is changed", number, len(b))
				}
				switch {
				case ways > 0:
					pass(b, h, ways-1)
				case ended.Add(1) == frames:
					close(l.over)
				default:
					begin()
				}
			}
			for range atOnce {
				begin()
			}
			for {
				for l.Take(own, 20, take) {
				}
				if !l.sleep(own) {
					return
				}
			}
		})
	}
	l.wait(t, &wg)
}
