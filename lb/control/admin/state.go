package admin

import (
	"fmt"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// state says in a word how a member is, and in a sentence why. What the
// operator decided comes before what dials found out.
func state(v dispatch.MemberView, own config.State, pause ms) (word, reason string) {
	switch {
	case v.State != dispatch.Enabled:
		return config.State(v.State).String(), "set on " + whose(v.State, own)
	case v.Probing:
		return "probing", "a dial failed; one client tries it now"
	case v.BackOffUntil == 0:
		return "enabled", "takes connections"
	case pause > 0:
		return "back-off", fmt.Sprintf("a dial failed; one client tries it in %v ms", pause)
	default:
		return "back-off", "a dial failed; the next client tries it"
	}
}

// whose says where a member's state comes from: the stricter one counts.
func whose(s dispatch.State, own config.State) string {
	if dispatch.State(own) == s {
		return "the member"
	}
	return "its node"
}
