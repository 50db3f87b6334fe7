// Package monitor decides whether a monitored member is up, and when it is to
// be checked next. It makes no checks and reads no clock: what happened and
// the time come in, the state comes out.
//
//	m := monitor.New(rule, now, seed)
//	due, changed := m.Tick(now)     at m.Wake(), or at any other time
//	m.Begin(now)                    a check that was due starts
//	changed = m.Good(now)           it ended: one of these three
//	changed = m.Failed(now, reason)
//	m.Missed(now)
//
// # The rule
//
// It is F5's (BIG-IP Local Traffic Manager: Monitors Reference, interval and
// timeout): a member is down when it had no good check for the timeout, and
// up at its first good one. One failed check, or every second one, changes
// nothing. A member starts as up, its timeout running, so that a proxy that
// starts is no outage.
//
//	     no good check for Timeout
//	up ----------------------------> down
//	   <----------------------------
//	          one good check
//
// Checks are an interval apart, begin to begin. The first comes somewhere in
// the first interval, by the seed, so that a thousand members are not checked
// at the same moment. There is one check at a time: if it takes longer than
// the interval, the next begins when it ends.
//
// # Only what the member did counts
//
// A check that was due and not begun, because the monitor had no room for it
// or the machine stood still, is no failure of the member. The time it waited
// is not counted. Nor is the interval of a check that could not be made, for
// want of a descriptor here: Missed.
package monitor
