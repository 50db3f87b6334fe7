package top

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals that mean something here.
var (
	resized   os.Signal = syscall.SIGWINCH
	suspended os.Signal = syscall.SIGTSTP
	ends                = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
)

// What a terminal understands.
const (
	screenOn  = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the other screen, no cursor, no wrapping
	screenOff = "\x1b[m\x1b[?7h\x1b[?25h\x1b[?1049l"
	home      = "\x1b[H"
	eraseLine = "\x1b[K"
	eraseRest = "\x1b[J"
)

// terminal is a screen with keys. It is taken by enter and given back by
// leave; both can be called again.
type terminal struct {
	in, out *os.File
	colour  bool
	was     *unix.Termios // how it was before enter; nil: it was left

	input *os.File      // in, opened again; see keys
	done  chan struct{} // closed by close
}

// terminalOf returns nil if frames can't be drawn over each other there.
func terminalOf(stdin io.Reader, stdout io.Writer) *terminal {
	out, ok := stdout.(*os.File)
	if !ok || modeOf(out) == nil || os.Getenv("TERM") == "dumb" {
		return nil
	}
	t := &terminal{out: out, colour: os.Getenv("NO_COLOR") == ""}
	if in, ok := stdin.(*os.File); ok && modeOf(in) != nil {
		t.in = in
	}
	return t
}

// modeOf is nil for what is no terminal.
func modeOf(f *os.File) (mode *unix.Termios) {
	control(f, func(fd int) {
		if m, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			mode = m
		}
	})
	return mode
}

// control works on a file's descriptor without making it a blocking one, as
// Fd would.
func control(f *os.File, do func(fd int)) {
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// enter takes the screen. Keys come one by one and are not shown; Ctrl-C and
// Ctrl-Z still make signals.
func (t *terminal) enter() (err error) {
	if t.in != nil {
		was := modeOf(t.in)
		if was == nil {
			return fmt.Errorf("%s is gone", t.in.Name())
		}
		mode := *was
		mode.Lflag &^= unix.ICANON | unix.ECHO
		mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
		control(t.in, func(fd int) { err = unix.IoctlSetTermios(fd, unix.TCSETS, &mode) })
		if err != nil {
			return err
		}
		t.was = was
	}
	signal.Ignore(syscall.SIGTTOU) // or leave would stop us when we are in the background
	_, err = io.WriteString(t.out, screenOn)
	return err
}

// leave gives the screen back as it was.
func (t *terminal) leave() {
	io.WriteString(t.out, screenOff)
	if t.was != nil {
		control(t.in, func(fd int) { unix.IoctlSetTermios(fd, unix.TCSETS, t.was) })
		t.was = nil
	}
	signal.Reset(syscall.SIGTTOU)
}

// suspend stops the program, as Ctrl-Z does, with the screen given back.
func (t *terminal) suspend() {
	t.leave()
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	unix.Kill(os.Getpid(), unix.SIGSTOP)
	<-resumed // not all threads stop at once
	t.enter()
}

// size is that of a usual terminal if this one does not know its own.
func (t *terminal) size() (width, height int) {
	width, height = 80, 24
	control(t.out, func(fd int) {
		if w, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
			width, height = int(w.Col), int(w.Row)
		}
	})
	return width, height
}

func (t *terminal) live() bool { return true }

// draw draws over what was there, in one piece so that nothing flickers.
func (t *terminal) draw(frame []line) error {
	var b strings.Builder
	b.WriteString(home)
	for i, l := range frame {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l.ansi(t.colour) + eraseLine)
	}
	b.WriteString(eraseRest)
	_, err := io.WriteString(t.out, b.String())
	return err
}

// keys are those that are pressed, until close. The channel is closed when
// the terminal is gone. It is nil if there is nothing to press.
//
// The terminal is opened once more for that: a read from what the shell lent
// us can't be broken off, and making that not block would change it for the
// shell too.
func (t *terminal) keys() <-chan key {
	if t.in == nil {
		return nil
	}
	var err error
	control(t.in, func(fd int) {
		t.input, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil
	}
	press := make(chan key)
	t.done = make(chan struct{})
	go t.read(press)
	return press
}

func (t *terminal) read(press chan<- key) {
	defer close(press)
	var board keyboard
	buf := make([]byte, 64)
	for {
		n, err := t.input.Read(buf)
		for _, c := range buf[:n] {
			if k := board.next(c); k != keyOther {
				select {
				case press <- k:
				case <-t.done:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends the keys.
func (t *terminal) close() {
	if t.input != nil {
		close(t.done)
		t.input.Close()
	}
}
