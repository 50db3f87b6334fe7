package top

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// session is a program in a terminal of its own.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File // what a terminal's window is for a shell
	slave  *os.File
	before unix.Termios

	mu   sync.Mutex
	seen bytes.Buffer
	more chan struct{}
}

// start runs top on a screen of a size.
func start(t *testing.T, cols, rows uint16, env []string, args ...string) *session {
	t.Helper()
	s := &session{t: t, more: make(chan struct{}, 1)}
	s.master, s.slave = pty(t)
	s.resize(cols, rows)
	s.before = *modeOf(s.slave)
	s.cmd = exec.Command(os.Args[0], args...)
	s.cmd.Env = append(append(os.Environ(), childEnv+"=1", "TERM=xterm", "NO_COLOR="), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, s.slave, s.slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.slave.Close()
		s.master.Close()
	})
	go s.read()
	return s
}

func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	n := 0
	control(master, func(fd int) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
	})
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func (s *session) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.seen.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// sees waits until all words have been on the screen, and forgets what was.
func (s *session) sees(words ...string) string {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		text := s.seen.String()
		s.mu.Unlock()
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			s.mu.Lock()
			s.seen.Next(len(text))
			s.mu.Unlock()
			return text
		}
		select {
		case <-s.more:
		case <-deadline:
			s.t.Fatalf("never on the screen: %q\n%q", words, text)
		}
	}
}

func (s *session) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) resize(cols, rows uint16) {
	s.t.Helper()
	control(s.master, func(fd int) {
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows}); err != nil {
			s.t.Fatal(err)
		}
	})
}

// ends waits for the end, which has to leave the terminal as it was.
func (s *session) ends(code int) {
	s.t.Helper()
	s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d", got, code)
	}
	s.sees(screenOff)
	s.restored()
}

func (s *session) restored() {
	s.t.Helper()
	if now := *modeOf(s.slave); now != s.before {
		s.t.Errorf("the terminal is not as it was:\n%+v\n%+v", s.before, now)
	}
}

func TestTerminal(t *testing.T) {
	p := play(t)
	s := start(t, 100, 30, nil, "-interval", "100ms", "-admin", p.address())
	s.sees(screenOn, home, "penstock top", "\x1b[36m>1\x1b[m", "q quit")
	s.types("\x1b[B")
	s.sees("\x1b[36m>2\x1b[m", "\x1b[1mmail\x1b[m is")
	s.types("3")
	s.sees("\x1b[36m>3\x1b[m", "\x1b[1mreports\x1b[m is")
	s.types("p")
	s.sees("PAUSED for ")
	s.resize(40, 10)
	for end := time.Now().Add(20 * time.Second); ; {
		frame := lastFrame(s.sees(home, "penstock top", eraseRest))
		if frame != "" && strings.Count(frame, "\n") <= 9 {
			break
		}
		if time.Now().After(end) { // one or another may still be for the old size
			t.Fatalf("more than 10 lines:\n%s", frame)
		}
	}
	s.types("q")
	s.ends(0)
}

// lastFrame is the last one that was drawn to its end, if there is one.
func lastFrame(text string) string {
	text = text[:strings.LastIndex(text, eraseRest)]
	return text[max(strings.LastIndex(text, home), 0):]
}

func TestInterrupt(t *testing.T) {
	p := play(t)
	s := start(t, 80, 24, []string{"NO_COLOR=1"}, "-interval", "100ms", "-admin", p.address())
	if text := s.sees("penstock top", eraseRest); strings.Contains(text, "\x1b[3") {
		t.Errorf("colours: %q", text)
	}
	p.down.Store(true)
	s.sees("NO ANSWER for")
	s.types("\x03") // Ctrl-C
	s.ends(0)
}

// Ctrl-Z gives the terminal to the shell, and fg takes it again.
func TestStopped(t *testing.T) {
	p := play(t)
	s := start(t, 80, 24, nil, "-admin", p.address())
	s.sees("penstock top", eraseRest)
	s.types("\x1a")
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("%v, %v", status, err)
	}
	s.sees(screenOff)
	s.restored()
	s.cmd.Process.Signal(syscall.SIGCONT)
	s.sees(screenOn, "penstock top", eraseRest)
	s.types("q")
	s.ends(0)
}

func TestPanicLeaves(t *testing.T) {
	master, slave := pty(t)
	defer master.Close()
	defer slave.Close()
	before := *modeOf(slave)
	w := newWatch(clientOf(t, play(t)), options{interval: time.Second})
	w.signals = make(chan os.Signal, 1)
	w.view.current = nil
	w.look = nil // panics
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		w.live(terminalOf(slave, slave))
	}()
	got := make([]byte, len(screenOn+screenOff))
	if _, err := io.ReadFull(master, got); err != nil || string(got) != screenOn+screenOff {
		t.Errorf("%q, %v", got, err)
	}
	if now := *modeOf(slave); now != before {
		t.Errorf("the terminal is not as it was:\n%+v\n%+v", before, now)
	}
}

func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if terminalOf(r, w) != nil {
		t.Error("a pipe is no terminal")
	}
	master, slave := pty(t)
	defer master.Close()
	defer slave.Close()
	t.Setenv("TERM", "dumb")
	if terminalOf(slave, slave) != nil {
		t.Error("a dumb terminal can't draw over what is there")
	}
}
