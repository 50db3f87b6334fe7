package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// recorded answers as a proxy did once.
type recorded struct {
	folder string
	asked  []string
}

func (r *recorded) Address() string { return "127.0.0.1:8081" }

func (r *recorded) Get(_ context.Context, path string, v any) error {
	r.asked = append(r.asked, path)
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/v1/"), "?")
	if name == "waiters" && !strings.Contains(path, "pool=app&") {
		return nil // nobody waits
	}
	b, err := os.ReadFile(r.folder + "/" + name + ".json")
	if errors.Is(err, os.ErrNotExist) {
		return nil // nobody waits
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// look is a sample of what was recorded in a folder.
func look(t *testing.T, folder, pool string, at time.Time) *sample {
	t.Helper()
	s, err := lookAt(context.Background(), &recorded{folder: folder}, pool, 40)
	if err != nil {
		t.Fatal(err)
	}
	s.at = at
	return s
}

// recording is a view of two looks that are a second apart.
func recording(t *testing.T, pool string) *view {
	return recordingOf(t, pool, "testdata/before", "testdata/after")
}

func recordingOf(t *testing.T, pool, before, after string) *view {
	v := &view{address: "127.0.0.1:8081", interval: time.Second, live: true, chosen: pool, now: noon}
	v.before = look(t, before, pool, noon.Add(-time.Second))
	v.current = look(t, after, pool, noon)
	v.choose()
	return v
}

func printed(frame []line) string {
	var b strings.Builder
	for _, l := range frame {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// TestFrames runs testdata/frames:
//
//	frame [tap] [width=N] [height=N] [pool=NAME] [first] [paused] [failed=TEXT] [late=TIME] [ansi=on|no-colour]
func TestFrames(t *testing.T) {
	datadriven.RunTest(t, "testdata/frames", func(t *testing.T, d *datadriven.TestData) string {
		width, height, pool := 80, 24, ""
		d.MaybeScanArgs(t, "width", &width)
		d.MaybeScanArgs(t, "height", &height)
		d.MaybeScanArgs(t, "pool", &pool)
		v := recording(t, pool)
		if d.HasArg("tap") {
			v = recordingOf(t, pool, "testdata/tap-before", "testdata/tap-after")
		}
		if d.HasArg("first") {
			v.before = nil
		}
		v.live = height > 0
		v.paused = d.HasArg("paused")
		var text string
		if d.MaybeScanArgs(t, "failed", &text) {
			v.failed = errors.New(strings.ReplaceAll(text, "_", " "))
		}
		if d.MaybeScanArgs(t, "late", &text) {
			late, err := time.ParseDuration(text)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			v.now = noon.Add(late)
		}
		frame := v.frame(width, height)
		checkFits(t, d.Pos, frame, width, height)
		if d.MaybeScanArgs(t, "ansi", &text) {
			return spelled(frame, text == "on")
		}
		return printed(frame)
	})
}

func spelledLine(l line, colour bool) string {
	return strings.ReplaceAll(strings.TrimRight(l.ansi(colour), " "), "\x1b", "^")
}

func spelled(frame []line, colour bool) string {
	var b strings.Builder
	for _, l := range frame {
		b.WriteString(spelledLine(l, colour) + "\n")
	}
	return b.String()
}

func checkFits(t *testing.T, what string, frame []line, width, height int) {
	t.Helper()
	if height > 0 && len(frame) > height {
		t.Errorf("%s: %d lines on a screen of %d", what, len(frame), height)
	}
	for _, l := range frame {
		if n := len(l.String()); n > width {
			t.Errorf("%s: a line of %d on a screen of %d: %s", what, n, width, l)
		}
	}
}

// No screen is too small, and on none a line is too long.
func TestAnySize(t *testing.T) {
	for _, v := range []*view{recording(t, ""), recordingOf(t, "", "testdata/tap-before", "testdata/tap-after")} {
		for _, v.failed = range []error{nil, errors.New("no")} {
			for width := 1; width <= 200; width += 1 + width/8 {
				for height := 1; height <= 60; height += 1 + height/8 {
					checkFits(t, fmt.Sprintf("%dx%d", width, height), v.frame(width, height), width, height)
				}
			}
		}
	}
}

// The chosen pool is on the screen, however little there is of it.
func TestChosenIsSeen(t *testing.T) {
	v := recording(t, "")
	for _, p := range v.current.pools {
		v.chosen = p.Name
		for height := 4; height <= 30; height++ {
			if !strings.Contains(printed(v.frame(80, height)), "  "+p.Name+" ") {
				t.Errorf("height %d: %s is not there:\n%s", height, p.Name, printed(v.frame(80, height)))
			}
		}
	}
}

// Whatever a proxy says, it can't steer the terminal, nor shift a column.
func TestControlCharacters(t *testing.T) {
	const evil = "a\x1b[2J\x1b]0;x\x07\u009b1m\u202e\r\nb\t漢\x7f\xff"
	v := recording(t, "")
	s := v.current
	for i := range s.virtuals {
		s.virtuals[i].Name, s.virtuals[i].Listen, s.virtuals[i].Pool = evil, evil, evil
	}
	for i := range s.waiters.Waiters {
		w := &s.waiters.Waiters[i]
		w.Client, w.Virtual, w.Queue = evil, evil, evil
	}
	for i := range s.pools {
		p := &s.pools[i]
		p.Name, p.State, p.Reason = evil, evil, evil
		for j := range p.Members {
			m := &p.Members[j]
			m.Address, m.State, m.Reason = evil, evil, evil
		}
	}
	v.address, v.chosen, s.of, v.failed = evil, evil, evil, errors.New(evil)
	frame := v.frame(160, 60)
	if !strings.Contains(printed(frame), "a?[2J??]0;x??1m???b????") && !strings.Contains(printed(frame), "a?[2J?]0;x??1m???b????") {
		t.Errorf("%s", printed(frame))
	}
	for _, l := range frame {
		for _, p := range l {
			if strings.ContainsFunc(p.text, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q", p.text)
			}
		}
	}
}

// Counters that go back began anew: nothing is known per second.
func TestRates(t *testing.T) {
	for _, tt := range []struct {
		seconds     float64
		before, now int64
		known       bool
		want        string
	}{
		{1, 10, 15, true, "5.00"}, {2, 10, 15, true, "2.50"}, {1, 10, 10, true, "0"},
		{1, 10, 9, true, "-"}, {1, 0, 9, false, "-"}, {0, 1, 2, true, "-"}, {1, 0, 123456, true, "123k"},
	} {
		if got := speed(rate(tt.seconds, tt.before, tt.now, tt.known)); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestBars(t *testing.T) {
	for _, tt := range []struct {
		n, of int64
		want  string
	}{
		{0, 10, "[          ]"}, {1, 1000, "[|         ]"}, {5, 10, "[|||||     ]"}, {999, 1000, "[||||||||| ]"},
		{10, 10, "[||||||||||]"}, {12, 10, "[||||||||||]"}, {3, 0, ""}, {3, none, ""},
	} {
		if got := bar(tt.n, tt.of); got != tt.want {
			t.Errorf("%d of %d: %s", tt.n, tt.of, got)
		}
	}
}

// Who waits is asked for of the pool that is shown.
func TestWaitersOfTheChosen(t *testing.T) {
	for pool, want := range map[string]string{"": "app", "mail": "mail", "gone": "app"} {
		r := &recorded{folder: "testdata/after"}
		if _, err := lookAt(context.Background(), r, pool, 7); err != nil {
			t.Fatal(err)
		}
		if got := r.asked[len(r.asked)-1]; got != "/v1/waiters?pool="+want+"&limit=7" {
			t.Errorf("%q: %s", pool, got)
		}
	}
}

func TestKeys(t *testing.T) {
	for in, want := range map[string][]key{
		"q": {keyQuit}, "p": {keyPause}, "jk": {keyDown, keyUp}, "19": {keyFirst, keyLast}, "0x": nil,
		"\x1b[A\x1b[B": {keyUp, keyDown}, "\x1bOA": {keyUp}, "\x1b[1;5A": {keyUp}, "\x1b[Cq": {keyQuit}, "\x1bq": {keyQuit},
	} {
		var b keyboard
		var got []key
		for i := range len(in) {
			if k := b.next(in[i]); k != keyOther {
				got = append(got, k)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

func TestChoosing(t *testing.T) {
	v := recording(t, "")
	for _, step := range []struct {
		key  key
		want string
	}{
		{keyUp, "app"}, {keyDown, "mail"}, {keyDown, "reports"}, {keyDown, "reports"}, {keyUp, "mail"},
		{keyFirst, "app"}, {keyFirst + 2, "reports"}, {keyLast, "reports"},
	} {
		if quit := v.press(step.key); quit || v.chosen != step.want {
			t.Errorf("after key %d: %s, want %s", step.key, v.chosen, step.want)
		}
	}
	if !v.press(keyQuit) {
		t.Error("q does not quit")
	}
}
