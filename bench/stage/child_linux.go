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
	name   string
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

// held becomes the program that is its arguments, once there is a line to read
// from descriptor 3. If that ends without one, nothing has begun.
const held = `read -r line <&3 && exec "$@" 3<&-`

// start must be called on the thread that stays: the kernel kills the child
// when that ends. The child is the first of a process group, so that a Ctrl-C
// in the terminal reaches this program alone, which ends all in good order.
//
// The program begins when the guard knows of its group: if this program were
// killed before, nobody would know whom the child has started by then.
func start(ctx context.Context, g *guard, argv []string) (c *Child, err error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	var pipes [4]*os.File
	defer func() {
		for _, f := range pipes {
			f.Close() // nil is fine
		}
	}()
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	out, said, word, begin := pipes[0], pipes[1], pipes[2], pipes[3]
	ctx, cancel := context.WithCancel(ctx)
	c = &Child{name: filepath.Base(path), out: out, lines: bufio.NewReader(out), cancel: cancel, done: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", held, "sh", path}, argv[1:]...)...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = said, &c.errors, []*os.File{word}
	c.cmd.Cancel = func() error { return syscall.Kill(-c.PID(), syscall.SIGTERM) }
	c.cmd.WaitDelay = patience // then SIGKILL
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	pipes[0] = nil // the child's now
	g.began(c.PID())
	begin.WriteString("\n") // who was ended by then does not hear it
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
func (c *Child) Name() string { return c.name }

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
