package admin

import (
	"fmt"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// What a member's state can be besides what an operator says.
const (
	down    = "down"
	probing = "probing"
	backOff = "back-off"
	ramping = "ramping"
	removed = "removed"
)

// memberState says in a word how a member is, and in a sentence why. What the
// operator decided comes before what the monitor found out, and that before
// what dials did.
func memberState(v dispatch.MemberView, own config.State, pause ms, monitor string) (word, reason string) {
	switch {
	case v.Removed:
		return removed, "until its last connection ends"
	case v.State != dispatch.Enabled:
		return config.State(v.State).String(), "set on " + whose(v.State, own)
	case v.Down:
		return down, "its monitor says: " + monitor
	case v.Probing:
		return probing, "a dial failed; one client tries it now"
	case v.BackOffUntil != 0 && pause > 0:
		return backOff, fmt.Sprintf("a dial failed; one client tries it in %v ms", pause)
	case v.BackOffUntil != 0:
		return backOff, "a dial failed; the next client tries it"
	case v.Ramp > 0:
		return ramping, fmt.Sprintf("slow ramp: %d of %d", v.Ramp, v.Limit)
	}
	return config.Enabled.String(), "takes connections"
}

// whose says where a member's state comes from: the stricter one counts.
func whose(s dispatch.State, own config.State) string {
	if dispatch.State(own) == s {
		return "the member"
	}
	return "its node"
}

// poolState sums its members up.
func poolState(paused bool, members []member) (word, reason string) {
	up := 0
	for i := range members {
		if members[i].up() {
			up++
		}
	}
	of := fmt.Sprintf("members that take connections: %d of %d", up, len(members))
	switch {
	case paused:
		return "paused", "by an operator; " + of
	case up == 0:
		return down, of
	}
	return config.Enabled.String(), of
}

// up says whether the member takes new clients. In back-off it does, once a
// client's probe has succeeded.
func (m *member) up() bool {
	switch m.State {
	case config.Enabled.String(), probing, backOff, ramping:
		return true
	}
	return false
}
