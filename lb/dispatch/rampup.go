package dispatch

import "penstock/lb/ramp"

// rampPause bounds how often time alone raises limits. A newcomer, or a slot
// that frees, has them looked at at once.
const rampPause Tick = 1e6

// rampUp sets the limits of members that ramp up slowly to what they may have
// now, and notes when that grows. True if one changed. The limit that a counter
// has in force moves; what is above it when a member comes up with
// connections left is a debt, as after any lowered limit.
func (p *pass) rampUp() (changed bool) {
	p.ramping.Store(false) // before it looks: who starts one meanwhile sets it again
	p.ramps = 0
	for _, pl := range p.pools {
		for _, m := range pl.members {
			if m.rampFrom.Load() == 0 {
				continue
			}
			next, moved := m.ramp(p.now)
			if next != 0 {
				p.ramping.Store(true)
				p.ramps = sooner(p.ramps, max(next, p.now+rampPause))
			}
			changed = changed || moved
		}
	}
	return changed
}

// ramp moves the member's limit, and returns when it grows next; 0 if it is
// all there.
func (m *member) ramp(now Tick) (next Tick, moved bool) {
	full, from, t := m.limit.Load(), Tick(m.rampFrom.Load()), m.pool.slowRamp
	if t > 0 && full > 0 && now < from+t {
		next = Tick(ramp.Next(full, int64(from), int64(now), int64(t)))
		full = ramp.Limit(full, int64(from), int64(now), int64(t))
	}
	if next != 0 {
		return next, m.slots.Set(full)
	}
	m.rampFrom.CompareAndSwap(int64(from), 0)
	// Who sets another limit leaves it to us before that, and asks for it himself
	// afterwards: ours must not be the last word, if it is of a limit that was.
	for full = -1; full != m.limit.Load(); {
		full = m.limit.Load()
		moved = m.slots.Set(full) || moved
	}
	return 0, moved
}
