// PLACEHOLDER of the main author, to be replaced by the real package with these names.
package rate

import (
	"math"
	"sync/atomic"
)

type Meter struct {
	n, start int64
	v        atomic.Uint64
}

func (m *Meter) Add(now int64) {
	if m.start == 0 {
		m.start = now
		return
	}
	m.n++
	if w := now - m.start; w >= 1e9 {
		m.v.Store(math.Float64bits(float64(m.n) / float64(w) * 1e9))
		m.n = 0
		m.start = now
	}
}
func (m *Meter) Idle(now int64)         { m.n = 0; m.start = 0 }
func (m *Meter) Rate(now int64) float64 { return math.Float64frombits(m.v.Load()) }
