package wheel

import (
	"math/rand/v2"
	"testing"
)

// A map is the dumb twin: each timer fires once, within its millisecond.
func TestAgainstMap(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		now := rnd.Int64N(1 << 45)
		w := New(now)
		want := map[uint32]int64{}
		for range 5000 {
			id := uint32(rnd.IntN(300) + 1)
			switch rnd.IntN(4) {
			case 0, 1:
				at := now + rnd.Int64N(int64(1)<<(20+rnd.IntN(24)))
				w.Start(id, at)
				want[id] = at
			case 2:
				w.Stop(id)
				delete(want, id)
			case 3:
				now += rnd.Int64N(int64(1) << (18 + rnd.IntN(24)))
				w.Advance(now, func(id uint32) {
					at, ok := want[id]
					if !ok || at > now {
						t.Fatalf("seed %d: timer %d fired at %d, want %d (%v)", seed, id, now, at, ok)
					}
					delete(want, id)
				})
				for id, at := range want {
					if at+ms < now-ms {
						t.Fatalf("seed %d: timer %d of %d is late at %d", seed, id, at, now)
					}
				}
			}
			next, ok := w.Next()
			if ok != (len(want) > 0) {
				t.Fatalf("seed %d: Next says %v with %d timers", seed, ok, len(want))
			}
			for _, at := range want {
				if next > at+2*ms && next > now+2*ms {
					t.Fatalf("seed %d: Next is %d, a timer is due at %d", seed, next, at)
				}
			}
		}
	}
}

func TestFireMayStopAndStartOthers(t *testing.T) {
	w := New(0)
	for id := uint32(1); id <= 3; id++ {
		w.Start(id, 10*ms)
	}
	var fired int
	w.Advance(20*ms, func(id uint32) {
		fired++
		for other := uint32(1); other <= 3; other++ {
			if other != id {
				w.Stop(other)
			}
		}
		w.Start(id, 30*ms)
	})
	if fired != 1 {
		t.Errorf("%d fired, want 1: the others were stopped by it", fired)
	}
	if at, ok := w.Next(); !ok || at != 30*ms {
		t.Errorf("Next = %d, %v", at, ok)
	}
}

func BenchmarkStartStop(b *testing.B) {
	w := New(0)
	for id := uint32(1); id < 100_000; id++ {
		w.Start(id, int64(id)*ms)
	}
	for i := 0; b.Loop(); i++ {
		w.Start(uint32(i%1000+1), int64(i%5000+1)*ms)
	}
}
