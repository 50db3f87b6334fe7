package server

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func schedule(t testing.TB, text string) Schedule {
	t.Helper()
	s, err := ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScheduleInTime(t *testing.T) {
	const ms = time.Millisecond
	type want struct {
		at    time.Duration
		mode  Mode
		until time.Duration
	}
	for text, wants := range map[string][]want{
		"":       {{0, Serving, Never}, {time.Hour, Serving, Never}},
		"refuse": {{0, Refusing, Never}, {Never - 1, Refusing, Never}},
		"serve 1s, stall 1s, serve": {
			{0, Serving, 1000 * ms}, {999 * ms, Serving, 1000 * ms}, {1000 * ms, Stalling, 2000 * ms},
			{1999 * ms, Stalling, 2000 * ms}, {2000 * ms, Serving, Never}, {time.Hour, Serving, Never},
		},
		" serve 200ms,refuse  100ms ": {
			{0, Serving, 200 * ms}, {200 * ms, Refusing, 300 * ms}, {300 * ms, Serving, 500 * ms},
			{500 * ms, Refusing, 600 * ms}, {3299 * ms, Refusing, 3300 * ms}, {3300 * ms, Serving, 3500 * ms},
		},
		"black-hole 1ms, reset 24h": {{0, Silent, ms}, {ms, Resetting, 24*time.Hour + ms}, {24*time.Hour + ms, Silent, 24*time.Hour + 2*ms}},
		"reset 1s":                  {{0, Resetting, 1000 * ms}, {1500 * ms, Resetting, 2000 * ms}, {Never - 1, Resetting, Never}},
	} {
		s := schedule(t, text)
		for _, w := range wants {
			if mode, until := s.At(w.at); mode != w.mode || until != w.until {
				t.Errorf("%q at %v: %v until %v, want %v until %v", text, w.at, mode, until, w.mode, w.until)
			}
		}
	}
}

func TestScheduleNamesEachMistake(t *testing.T) {
	for text, wants := range map[string][]string{
		"serve, refuse":         {`"serve" lasts for ever`},
		"sleep 1s":              {`"sleep"`, "black-hole"},
		"serve 1s,":             {`step ""`},
		"serve 1s 2s":           {`step "serve 1s 2s"`},
		"serve 999us":           {`serve for "999us"`, "1ms"},
		"serve 0s":              {`serve for "0s"`},
		"serve -1s":             {`"-1s"`, "24h"},
		"serve 25h":             {`"25h"`},
		"serve soon":            {`"soon"`},
		"stall x, dance, serve": {`stall for "x"`, `"dance"`},
		strings.Repeat("serve 1s,", mostSteps) + "serve": {"1001 steps"},
	} {
		_, err := ParseSchedule(text)
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.30q: %v, want %s", text, err, want)
			}
		}
	}
}

// What is written is read as the same, and a mode holds until it changes.
func checkSchedule(t rapid.TB, s Schedule, at time.Duration) {
	again, err := ParseSchedule(s.String())
	if err != nil || again.String() != s.String() {
		t.Fatalf("%q is read as %q: %v", s, again, err)
	}
	mode, until := s.At(at)
	if until <= at {
		t.Fatalf("%q at %v: until %v", s, at, until)
	}
	for _, then := range []time.Duration{at + (until-at)/2, until - 1} {
		if m, u := again.At(then); m != mode || u != until {
			t.Fatalf("%q at %v: %v until %v; at %v: %v until %v", s, at, mode, until, then, m, u)
		}
	}
}

// walk finds the mode step by step.
func walk(s Schedule, at time.Duration) Mode {
	for i := 0; ; i = (i + 1) % len(s.steps) {
		if st := s.steps[i]; st.long == 0 || at < st.long {
			return st.mode
		}
		at -= s.steps[i].long
	}
}

func TestScheduleAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Schedule
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			s.steps = append(s.steps, step{Mode(rapid.IntRange(0, int(modes)-1).Draw(t, "mode")), time.Duration(rapid.Int64Range(1e6, 1e6+1000).Draw(t, "long"))})
		}
		if rapid.Bool().Draw(t, "stays") {
			s.steps[len(s.steps)-1].long = 0
		}
		at := time.Duration(rapid.Int64Range(0, 20e6).Draw(t, "at"))
		checkSchedule(t, s, at)
		if mode, _ := s.At(at); mode != walk(s, at) {
			t.Fatalf("%q at %v: %v, want %v", s, at, mode, walk(s, at))
		}
	})
}

func FuzzSchedule(f *testing.F) {
	for _, text := range []string{"", "serve", "serve 1s, stall 1s, serve", "serve 200ms, refuse 100ms", "black-hole 1ms,reset 24h", "serve 1s,", "stall -1s", ",", "serve 9e9s"} {
		f.Add(text, int64(1500))
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		s, err := ParseSchedule(text)
		if err != nil {
			if err.Error() == "" || len(s.steps) > 0 {
				t.Fatalf("%q: %v, %q", text, s, err)
			}
			return
		}
		checkSchedule(t, s, time.Duration(max(at, 0)&(1<<62-1)))
	})
}
