package dispatch

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// PoolStats is what a pool's queue has seen. Each field may be read at any
// time; together they are no snapshot.
type PoolStats struct {
	Serviced        atomic.Uint64 // left the queue with a slot (connq.serviced)
	Expired         atomic.Uint64
	Overflowed      atomic.Uint64 // refused, for the queue was full or off
	Abandoned       atomic.Uint64 // the client left while parked
	Requeued        atomic.Uint64 // came back from a failed dial
	Moved           atomic.Uint64 // from a member's queue to the pool's
	RefusedNoMember atomic.Uint64

	Head   atomic.Int64 // oldest ticket, 0 if nobody waits
	AgeMax atomic.Int64 // longest wait of those served, nanoseconds (connq.ageMax)
	AgeEma atomic.Int64 // exponential moving average of them (connq.ageEma)
	AgeEdm atomic.Int64 // exponentially decaying maximum (connq.ageEdm)

	ServedWaits    Waits
	ExpiredWaits   Waits // refused as expired, or as no member is up
	AbandonedWaits Waits

	head int64 // owned by who has the baton
}

// ageShift sets how fast the averages follow: an eighth of the way each time.
const ageShift = 3

// served books a grant. Only the holder of the baton calls it.
func (s *PoolStats) served(wait Tick) {
	w := int64(wait)
	s.Serviced.Add(1)
	s.ServedWaits.Add(w)
	if w > s.AgeMax.Load() {
		s.AgeMax.Store(w)
	}
	ema := s.AgeEma.Load()
	s.AgeEma.Store(ema + (w-ema)>>ageShift)
	edm := s.AgeEdm.Load()
	s.AgeEdm.Store(max(w, edm-edm>>ageShift))
}

func (s *PoolStats) refused(to phase, wait Tick) {
	if to == noMember {
		s.RefusedNoMember.Add(1)
	} else {
		s.Expired.Add(1)
	}
	s.ExpiredWaits.Add(int64(wait))
}

func (s *PoolStats) abandoned(wait Tick) {
	s.Abandoned.Add(1)
	s.AbandonedWaits.Add(int64(wait))
}

// WaitBuckets is the number of finite buckets of Waits.
const WaitBuckets = 18

// Waits is a histogram of waits. Bucket i holds those up to 1 ms * 2^i; the
// last one those beyond 131 s.
type Waits struct {
	buckets [WaitBuckets + 1]atomic.Uint64
	sum     atomic.Int64
}

// Add books one wait of ns nanoseconds.
func (w *Waits) Add(ns int64) {
	ms := uint64(max(ns-1, 0)) / uint64(time.Millisecond)
	w.buckets[min(bits.Len64(ms), WaitBuckets)].Add(1)
	w.sum.Add(ns)
}

// Snapshot returns the total number, the sum in seconds, and the cumulative
// counts by upper bound in seconds, as Prometheus wants them.
func (w *Waits) Snapshot() (count uint64, sum float64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, WaitBuckets)
	for i := range w.buckets {
		count += w.buckets[i].Load()
		if i < WaitBuckets {
			upTo[math.Ldexp(1e-3, i)] = count
		}
	}
	return count, float64(w.sum.Load()) / 1e9, upTo
}
