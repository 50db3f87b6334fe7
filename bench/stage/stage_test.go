package stage

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// soon is how long what must happen may take: longer is no work but a hang.
const soon = time.Minute

func open(t *testing.T) *Stage {
	t.Helper()
	s, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.Dir); err == nil {
			t.Error(s.Dir, "is left")
		}
	})
	return s
}

func shell(t *testing.T, ctx context.Context, s *Stage, script string) *Child {
	t.Helper()
	c, err := s.Start(ctx, "sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	return c
}

func TestChildSaysLastWordsAndEnds(t *testing.T) {
	c := shell(t, t.Context(), open(t), `trap 'echo "\"bye\""; exit' TERM; read x; echo "$x"; while :; do sleep 0.01; done`)
	var n int
	if err := c.Say("1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Read(&n, soon); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if c.Ended() {
		t.Error("ended before it was told to")
	}
	c.Stop()
	var word string
	if err := c.Read(&word, soon); err != nil || word != "bye" {
		t.Error(word, err)
	}
	c.End()
	c.End()
	if !c.Ended() || syscall.Kill(c.PID(), 0) == nil {
		t.Error("it still runs")
	}
}

func TestChildThatFailsIsQuoted(t *testing.T) {
	c := shell(t, t.Context(), open(t), "echo no such file >&2; exit 1")
	var n int
	if err := c.Read(&n, soon); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestSilentChildIsNotWaitedForWithoutEnd(t *testing.T) {
	c := shell(t, t.Context(), open(t), "sleep 100")
	var n int
	if err := c.Read(&n, time.Millisecond); err == nil || !strings.Contains(err.Error(), "said nothing for 1ms") {
		t.Error(err)
	}
}

// The end of the context ends the child, and whom the child has started.
func TestContextEndsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := shell(t, ctx, open(t), "sleep 100 & echo $!; wait")
	var grandchild int
	if err := c.Read(&grandchild, soon); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-c.Done()
	for start := time.Now(); time.Since(start) < soon; {
		if state := field("/proc/"+strconv.Itoa(grandchild)+"/status", "State"); state == "unknown" || strings.HasPrefix(state, "Z") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the child's child still runs")
}

// looking is told of processes as a guard is, and notes what each one runs then.
type looking struct{ saw []string }

// A process that has just become another has no command yet, for a moment.
func (l *looking) Write(line []byte) (int, error) {
	pid, began := strings.CutPrefix(strings.TrimSpace(string(line)), "+ ")
	for began {
		command, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err != nil {
			return 0, err
		}
		if began = len(command) == 0; !began {
			l.saw = append(l.saw, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return len(line), nil
}

func (*looking) Close() error { return nil }

// A program that begins before the guard knows of it could start others of whom
// nobody would know, if this one were killed then.
func TestTheGuardKnowsBeforeTheProgramBegins(t *testing.T) {
	l := new(looking)
	p := newPlace(&guard{in: l})
	c, err := p.Start(t.Context(), "sleep", "100")
	if err != nil {
		t.Fatal(err)
	}
	for path := "/proc/" + strconv.Itoa(c.PID()) + "/comm"; word(path) != "sleep"; {
		if c.Ended() {
			t.Fatal(c.Words())
		}
		time.Sleep(time.Millisecond)
	}
	c.End()
	p.leave()
	if len(l.saw) != 1 || !strings.HasPrefix(l.saw[0], "sh -c "+held) {
		t.Errorf("it ran %q", l.saw)
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := open(t).Start(t.Context(), "/no/such/program"); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Error(err)
	}
}

func TestListening(t *testing.T) {
	s := open(t)
	a := s.Address()
	if b := s.Address(); a == b {
		t.Errorf("%v given out twice", a)
	}
	c := shell(t, t.Context(), s, "sleep 100")
	if err := s.Listening(t.Context(), a, c, time.Millisecond); err == nil || !strings.Contains(err.Error(), "does not listen") {
		t.Error(err)
	}
	var l net.Listener
	s.Do(func() { l, _ = net.Listen("tcp", a.String()) })
	defer l.Close()
	if err := s.Listening(t.Context(), a, c, soon); err != nil {
		t.Error(err)
	}
	c.End()
	if err := s.Listening(t.Context(), netip.MustParseAddrPort("127.0.0.1:1"), c, soon); err == nil || !strings.Contains(err.Error(), "sh ended") {
		t.Error(err)
	}
}

// A name that the kernel does not know is refused, by who may choose, with those
// that it knows; nothing is left of the stage.
func TestUnknownCongestionControl(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open("bogus")
	if err == nil {
		defer s.Close()
		if strings.HasPrefix(s.Network, "own") {
			t.Errorf("%q", s.Network)
		}
		t.Skip("may not choose: ", s.Network)
	}
	if !errors.Is(err, ErrCongestion) || !strings.Contains(err.Error(), "bogus") || !strings.Contains(err.Error(), "reno") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// What a network may choose it has, whatever the machine keeps to itself, and the
// machine is left as it was.
func TestCongestionControl(t *testing.T) {
	before := permitted(t)
	s, err := Open("cubic")
	if err != nil {
		t.Skip(err)
	}
	defer s.Close()
	if strings.HasPrefix(s.Network, "own") && !strings.Contains(s.Network, "not with") && s.Congestion() != "cubic" {
		t.Errorf("%q has %q", s.Network, s.Congestion())
	}
	if now := permitted(t); now != before {
		t.Errorf("the machine allowed %q, and now %q", before, now)
	}
}

// permitted is what the machine allows while nobody permits more: other tests open
// stages too.
func permitted(t *testing.T) string {
	t.Helper()
	f, err := alone()
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	return word(allowed)
}

// Many stages at a time get what one gets, though each may have to permit it first.
func TestCongestionControlOfMany(t *testing.T) {
	before := permitted(t)
	one, err := Open("cubic")
	if err != nil {
		t.Skip(err)
	}
	defer one.Close()
	var opening sync.WaitGroup
	for range 20 {
		opening.Go(func() {
			s, err := Open("cubic")
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if s.Network != one.Network {
				t.Errorf("%q, and one alone has %q", s.Network, one.Network)
			}
		})
	}
	opening.Wait()
	if now := permitted(t); now != before {
		t.Errorf("the machine allowed %q, and now %q", before, now)
	}
}

func TestMachine(t *testing.T) {
	m := open(t).Machine()
	if m.Kernel == "" || m.CPU == "" || m.Cores < 1 || m.Memory < 1<<20 || m.Network == "" || m.Versions["go"] == "" {
		t.Errorf("%+v", m)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var tl tail
	for range 3 {
		tl.Write([]byte(strings.Repeat("a", tailSize-1)))
	}
	tl.Write([]byte("end"))
	if text := tl.String(); len(text) != tailSize || !strings.HasSuffix(text, "aend") {
		t.Error(len(text))
	}
}
