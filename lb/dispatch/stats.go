package dispatch

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// QueueStats is what a queue has seen. Each field may be read at any time;
// together they are no snapshot.
type QueueStats struct {
	Serviced        atomic.Uint64 // left the queue with a slot (connq.serviced)
	Expired         atomic.Uint64
	Overflowed      atomic.Uint64 // refused, for the queue was full or off
	Abandoned       atomic.Uint64 // the client left while parked
	Requeued        atomic.Uint64 // came back from a failed dial
	Moved           atomic.Uint64 // from this member's queue to the pool's
	RefusedNoMember atomic.Uint64
	Early           atomic.Uint64 // refused, for it would have expired
	Shed            atomic.Uint64 // refused, for the queue was slow for too long
	Flushed         atomic.Uint64 // refused by an operator

	Head atomic.Int64 // oldest ticket, 0 if nobody waits
	ages

	ServedWaits    Waits
	RefusedWaits   Waits // expired, shed, flushed, or no member was up
	AbandonedWaits Waits

	grants grants
}

// grants is Serviced and ServedWaits as who has the baton counts them. As the
// ages, they are told at the end of a pass.
type grants struct {
	n       uint64
	sum     int64
	buckets [WaitBuckets + 1]uint64
	news    uint32 // of buckets, a bit each
}

// ages are the waits of those served, in nanoseconds. They are told at the end of
// a pass: a store that others can see costs as much as all the rest of it.
type ages struct {
	AgeMax atomic.Int64 // longest (connq.ageMax)
	AgeEma atomic.Int64 // exponential moving average (connq.ageEma)
	AgeEdm atomic.Int64 // exponentially decaying maximum (connq.ageEdm)

	// Owned by who has the baton.
	most, ema, edm int64
	news           bool
}

// ageShift sets how fast the averages follow: an eighth of the way each time.
const ageShift = 3

func (a *ages) served(w int64) {
	a.most = max(a.most, w)
	a.ema += (w - a.ema) >> ageShift
	a.edm = max(w, a.edm-a.edm>>ageShift)
	a.news = true
}

// tell shows them to others.
func (a *ages) tell() {
	if !a.news {
		return
	}
	a.news = false
	a.AgeMax.Store(a.most)
	a.AgeEma.Store(a.ema)
	a.AgeEdm.Store(a.edm)
}

// served books a grant. Only the holder of the baton calls it.
func (s *QueueStats) served(wait Tick) {
	i := bucketOf(int64(wait))
	g := &s.grants
	g.n++
	g.sum += int64(wait)
	g.buckets[i]++
	g.news |= 1 << i
	s.ages.served(int64(wait))
}

// tell shows the grants to others.
func (s *QueueStats) tell() {
	g := &s.grants
	if g.news == 0 {
		return
	}
	s.ages.tell()
	s.Serviced.Store(g.n)
	s.ServedWaits.sum.Store(g.sum)
	for ; g.news != 0; g.news &= g.news - 1 {
		i := bits.TrailingZeros32(g.news)
		s.ServedWaits.buckets[i].Store(g.buckets[i])
	}
}

// refused books one who waited in vain.
func (s *QueueStats) refused(to phase, wait Tick) {
	switch to {
	case noMember:
		s.RefusedNoMember.Add(1)
	case overflow:
		s.Overflowed.Add(1)
	case early:
		s.Early.Add(1)
	case shed:
		s.Shed.Add(1)
	case flushed:
		s.Flushed.Add(1)
	default:
		s.Expired.Add(1)
	}
	s.RefusedWaits.Add(int64(wait))
}

// turnedAway books one who was not let in.
func (s *QueueStats) turnedAway(why Reason) {
	switch why {
	case NoMember:
		s.RefusedNoMember.Add(1)
	case Early:
		s.Early.Add(1)
	default:
		s.Overflowed.Add(1)
	}
}

func (s *QueueStats) abandoned(wait Tick) {
	s.Abandoned.Add(1)
	s.AbandonedWaits.Add(int64(wait))
}

// add adds what o has counted; ages are not added.
func (s *QueueStats) add(o *QueueStats) {
	to, from := s.counts(), o.counts()
	for i := range to {
		to[i].Add(from[i].Load())
	}
	s.ServedWaits.add(&o.ServedWaits)
	s.RefusedWaits.add(&o.RefusedWaits)
	s.AbandonedWaits.add(&o.AbandonedWaits)
}

func (s *QueueStats) counts() [10]*atomic.Uint64 {
	return [...]*atomic.Uint64{
		&s.Serviced, &s.Expired, &s.Overflowed, &s.Abandoned, &s.Requeued,
		&s.Moved, &s.RefusedNoMember, &s.Early, &s.Shed, &s.Flushed,
	}
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
	w.buckets[bucketOf(ns)].Add(1)
	w.sum.Add(ns)
}

func bucketOf(ns int64) int {
	ms := uint64(max(ns-1, 0)) / uint64(time.Millisecond)
	return min(bits.Len64(ms), WaitBuckets)
}

func (w *Waits) add(o *Waits) {
	for i := range w.buckets {
		w.buckets[i].Add(o.buckets[i].Load())
	}
	w.sum.Add(o.sum.Load())
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
