package monitor

import (
	"fmt"
	"time"
)

// Never is a time that does not come.
const Never time.Duration = 1<<63 - 1

// Member is the state of one monitored member. Times are durations since any
// moment, the same for all calls. Made by New; not safe for concurrent use.
type Member struct {
	rule Rule

	up       bool
	since    time.Duration // when up last changed
	good     time.Duration // from here the timeout counts: the last good check, moved on by what does not count
	next     time.Duration // when a check is due, while none is under way
	begun    time.Duration // when the one under way, or the last one, began
	checking bool
	took     time.Duration // the last check that ended
	reason   string        // of the last failure; empty after a good check
}

// State is what a member's owner wants to know.
type State struct {
	Up     bool
	Reason string        // why the last check failed; empty after a good one
	Since  time.Duration // when Up changed, or the member was made
	Took   time.Duration // how long the last check took; 0 before the first
}

// New makes a member that is up, with its first check within an interval.
func New(r Rule, now time.Duration, seed uint64) *Member {
	r = r.whole()
	return &Member{rule: r, up: true, since: now, good: now, next: now + jitter(seed, r.Interval)}
}

// State returns the state.
func (m *Member) State() State {
	return State{Up: m.up, Reason: m.reason, Since: m.since, Took: m.took}
}

// Change puts another rule in force. The state stays: a new interval does not
// make a dead server well. The timeout starts afresh and a check is due now;
// one that is under way is forgotten, and its end must not be told.
func (m *Member) Change(r Rule, now time.Duration) {
	m.rule = r.whole()
	m.good, m.next = now, now
	m.checking = false
}

// Limit is how long a check may take.
func (m *Member) Limit() time.Duration { return m.rule.Limit() }

// Doubtful says whether the last check failed.
func (m *Member) Doubtful() bool { return m.reason != "" }

// Wake returns when Tick has something to say, if nothing else happens.
func (m *Member) Wake() time.Duration {
	if m.checking {
		return m.deadline()
	}
	return min(m.next, m.deadline())
}

// deadline is when the member goes down.
func (m *Member) deadline() time.Duration {
	if !m.up {
		return Never
	}
	return m.good + m.rule.Timeout
}

// Tick tells the time. due: a check is to begin; until it does the timeout
// stands still. changed: the member went down.
func (m *Member) Tick(now time.Duration) (due, changed bool) {
	if !m.checking && now >= m.next {
		return true, false
	}
	return false, m.expire(now)
}

// Begin tells that the check that was due is under way.
func (m *Member) Begin(now time.Duration) {
	m.good += max(0, now-m.next)
	m.begun, m.checking = now, true
}

// Good tells that the check succeeded. changed: the member came up.
func (m *Member) Good(now time.Duration) (changed bool) {
	m.end(now)
	m.good, m.reason = now, ""
	if m.up {
		return false
	}
	m.up, m.since = true, now
	return true
}

// Failed tells that the check failed, and why. changed: the member went down.
func (m *Member) Failed(now time.Duration, reason string) (changed bool) {
	m.end(now)
	m.reason = reason
	return m.expire(now)
}

// Missed tells that the check could not be made, by no fault of the member.
func (m *Member) Missed(now time.Duration) {
	took := m.took
	m.end(now)
	m.took = took
	m.good += m.next - m.begun
}

func (m *Member) end(now time.Duration) {
	m.checking = false
	m.took = now - m.begun
	m.next = max(m.begun+m.rule.Interval, now)
}

func (m *Member) expire(now time.Duration) (changed bool) {
	if now < m.deadline() {
		return false
	}
	m.up, m.since = false, now
	if m.reason == "" {
		m.reason = fmt.Sprintf("no answer within %v", m.rule.Timeout)
	}
	return true
}
