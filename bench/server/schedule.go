package server

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Mode is what a server does at one time.
type Mode uint8

const (
	// Serving accepts and answers.
	Serving Mode = iota

	// Refusing answers each SYN by a reset. Who has connected and was not yet
	// accepted is reset too. Connections that were accepted are served.
	Refusing

	// Silent answers no SYN, as a machine that is gone. Connections that were
	// made before are served.
	Silent

	// Stalling does nothing, as a process that is stopped: the kernel still
	// completes handshakes and takes requests, and both are served afterwards.
	Stalling

	// Resetting resets each connection inside its response.
	Resetting

	modes
)

var modeNames = [modes]string{"serve", "refuse", "black-hole", "stall", "reset"}

func (m Mode) String() string { return modeNames[m] }

// Schedule is what a server does over time. Its zero value serves for ever.
// It is pure: a time goes in, a mode comes out.
type Schedule struct{ steps []step }

// step is a mode and how long it lasts; 0 is for ever.
type step struct {
	mode Mode
	long time.Duration
}

const (
	mostSteps = 1000
	shortest  = time.Millisecond // of a step: less is only a busy loop
	longest   = 24 * time.Hour   // so that no sum overflows
)

// Never is the time of a change that does not come.
const Never = time.Duration(math.MaxInt64)

// ParseSchedule reads "serve 1s, stall 200ms, serve": steps of a mode and how
// long it lasts, a millisecond to a day. The last step may do without a time and then
// lasts for ever; else all begin again behind it. Empty is serve.
func ParseSchedule(text string) (Schedule, error) {
	if strings.TrimSpace(text) == "" {
		return Schedule{}, nil
	}
	words := strings.Split(text, ",")
	if len(words) > mostSteps {
		return Schedule{}, fmt.Errorf("%d steps: at most %d are allowed", len(words), mostSteps)
	}
	var s Schedule
	var errs []error
	for i, word := range words {
		st, err := parseStep(word)
		if err == nil && st.long == 0 && i < len(words)-1 {
			err = fmt.Errorf("%q lasts for ever, and more follows: only the last may do without a time", strings.TrimSpace(word))
		}
		errs = append(errs, err)
		s.steps = append(s.steps, st)
	}
	if err := errors.Join(errs...); err != nil {
		return Schedule{}, err
	}
	return s, nil
}

func parseStep(text string) (st step, err error) {
	fields := strings.Fields(text)
	if len(fields) < 1 || len(fields) > 2 {
		return st, fmt.Errorf("step %q: a mode (%s) and how long it lasts", strings.TrimSpace(text), strings.Join(modeNames[:], ", "))
	}
	mode := slices.Index(modeNames[:], fields[0])
	if mode < 0 {
		return st, fmt.Errorf("mode %q is not one of %s", fields[0], strings.Join(modeNames[:], ", "))
	}
	if st.mode = Mode(mode); len(fields) == 1 {
		return st, nil
	}
	st.long, err = time.ParseDuration(fields[1])
	if err != nil || st.long < shortest || st.long > longest {
		return st, fmt.Errorf("%s for %q: a time of %v to %v, as 200ms", st.mode, fields[1], shortest, longest)
	}
	return st, nil
}

// At tells the mode at a time since the server began, 0 or later, and when the
// next step begins, later than t: Never, if none does.
func (s Schedule) At(t time.Duration) (now Mode, until time.Duration) {
	if len(s.steps) == 0 {
		return Serving, Never
	}
	var round, at time.Duration // all steps; where in them
	for _, st := range s.steps {
		round += st.long
	}
	if at = t; s.repeats() {
		at = t % round
	}
	for _, st := range s.steps {
		if st.long == 0 {
			return st.mode, Never
		}
		if at < st.long {
			return st.mode, after(t, st.long-at)
		}
		at -= st.long
	}
	panic(fmt.Sprintf("%v has no step at %v", s, t)) // the steps fill a round
}

// after is t+d, or Never at the end of time.
func after(t, d time.Duration) time.Duration {
	if t > Never-d {
		return Never
	}
	return t + d
}

// repeats says that all steps end, so that they begin again.
func (s Schedule) repeats() bool { return len(s.steps) > 0 && s.steps[len(s.steps)-1].long > 0 }

// Has says whether a mode ever comes.
func (s Schedule) Has(m Mode) bool {
	return slices.ContainsFunc(s.steps, func(st step) bool { return st.mode == m })
}

// String is what ParseSchedule reads.
func (s Schedule) String() string {
	var b strings.Builder
	for i, st := range s.steps {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(st.mode.String())
		if st.long > 0 {
			b.WriteString(" " + st.long.String())
		}
	}
	return b.String()
}

// MarshalText and UnmarshalText make it a flag (flag.TextVar).
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Schedule) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSchedule(string(text))
	return err
}
