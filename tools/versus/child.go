package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// child is a process that versus started and must end, by end or by the end of
// the context.
type child struct {
	cmd    *exec.Cmd
	lines  *bufio.Reader // its standard output
	out    *os.File
	errors bytes.Buffer // its standard error; complete after end
	cancel context.CancelFunc
	over   bool
}

// patience is how long a child may take to end when told to.
const patience = 5 * time.Second

// start runs a command. Should versus die, the kernel ends the child: that
// holds for the thread which started it, so start is for the main thread only.
func start(ctx context.Context, argv ...string) (*child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(ctx)
	c := &child{out: r, lines: bufio.NewReader(r), cancel: cancel}
	c.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.cmd.Stdout, c.cmd.Stderr = w, &c.errors
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = patience // then SIGKILL
	if err := c.cmd.Start(); err != nil {
		cancel()
		r.Close()
		return nil, err
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// read decodes the next line that the child prints.
func (c *child) read(v any) error {
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		c.end()
		return fmt.Errorf("%s said nothing more: %w\n%s", c.cmd.Path, err, &c.errors)
	}
	return json.Unmarshal(line, v)
}

// stop tells the child to end, without waiting: what it says last can still be
// read.
func (c *child) stop() { c.cancel() }

// end ends the child, and returns when it has ended. It may be called twice.
func (c *child) end() {
	if c.over {
		return
	}
	c.over = true
	c.stop()
	c.cmd.Wait() // its exit status after a signal says nothing
	c.out.Close()
}
