package stage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is a process on the stage. Who started it must End it.
type Child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  *bufio.Reader // of out
	errors tail          // its standard error
	cancel context.CancelFunc
	done   chan struct{}
}

// patience is how long a child may take to end when told to.
const patience = 5 * time.Second

// start must be called on the thread that stays: the kernel kills the child
// when that ends. The child is the first of a process group, so that a Ctrl-C
// in the terminal reaches this program alone, which ends all in good order.
func start(ctx context.Context, argv []string) (*Child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(ctx)
	c := &Child{out: r, lines: bufio.NewReader(r), cancel: cancel, done: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	c.cmd.Stdout, c.cmd.Stderr = w, &c.errors
	c.cmd.Cancel = func() error { return syscall.Kill(-c.PID(), syscall.SIGTERM) }
	c.cmd.WaitDelay = patience // then SIGKILL
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		cancel()
		r.Close()
		return nil, err
	}
	return c, nil
}

// watch waits for the end. What is left of the process's group then, as workers
// that outlive their master, is killed.
func (c *Child) watch(g *guard) {
	c.cmd.Wait() // its exit status after a signal says nothing
	syscall.Kill(-c.PID(), syscall.SIGKILL)
	g.ended(c.PID())
	close(c.done)
}

// Name is that of the program.
func (c *Child) Name() string { return filepath.Base(c.cmd.Path) }

// PID is the process's number.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Ended says whether the process has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Words are the last of its standard error, complete once it is Done.
func (c *Child) Words() string {
	if words := strings.TrimSpace(c.errors.String()); words != "" {
		return words
	}
	return "it said nothing"
}

// Say writes a line to its standard input.
func (c *Child) Say(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

// Read decodes the next line of JSON that the process prints, if that comes in
// time. An error quotes what the process said, and leaves it in need of End. One
// goroutine at a time.
func (c *Child) Read(v any, within time.Duration) error {
	c.out.SetReadDeadline(time.Now().Add(within))
	line, err := c.lines.ReadBytes('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s said nothing for %v: %s", c.Name(), within, c.Words())
	case err != nil:
		c.End()
		return fmt.Errorf("%s ended: %s", c.Name(), c.Words())
	}
	return json.Unmarshal(line, v)
}

// Stop tells the process to end, without waiting: what it says last can still
// be read.
func (c *Child) Stop() { c.cancel() }

// End ends the process, and returns when it has ended. It may be called again.
func (c *Child) End() {
	c.Stop()
	<-c.done
	c.out.Close()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
