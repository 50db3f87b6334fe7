package dispatch

import "math"

// Back-off after failed dials: the first pause, doubled each time up to the
// last.
const (
	backoffFirst Tick = 50e6
	backoffMost  Tick = 5e9
)

// probing is the health of a member that one waiter is trying out.
const probing = math.MaxInt64

// claim makes the caller the prober of a member whose pause is over. Probe is
// false for a member that is well; ok is false if somebody else probes it.
func (m *member) claim(now Tick) (probe, ok bool) {
	h := m.health.Load()
	if h == 0 {
		return false, true
	}
	// Asked again: since eligible was, another probe may have failed.
	return true, h <= int64(now) && m.health.CompareAndSwap(h, probing)
}

// unprobed ends a probe that found nothing out. The member may have been found
// well meanwhile, by a dial that began before its pause.
func (m *member) unprobed(now Tick) { m.health.CompareAndSwap(probing, int64(now)) }

// backOff starts or prolongs the pause. The failure of a dial that began
// before the pause did is no news.
func (m *member) backOff(now Tick, probe bool) {
	if !probe && m.health.Load() != 0 {
		return
	}
	pause := backoffFirst << min(m.fails.Load(), 7)
	until := int64(now + min(pause, backoffMost))
	if probe {
		if m.health.Swap(until) == 0 { // another dial got through meanwhile
			m.pool.ailing.Add(1)
		}
	} else if m.health.CompareAndSwap(0, until) {
		m.pool.ailing.Add(1)
	} else {
		return
	}
	m.fails.Add(1)
}

// well ends the pause; true if there was one.
func (m *member) well() bool {
	if m.health.Load() == 0 || m.health.Swap(0) == 0 {
		return false
	}
	m.fails.Store(0)
	m.pool.ailing.Add(-1)
	return true
}
