package main

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mostLines = 1024        // that wait to be written; what comes then is lost, and counted
	linesTime = time.Second // for the last ones, at the end
)

// outlet is what the program's own log is written to. Loops log, and so does
// who has them stand still: a pipe that nobody reads must hold up neither. So
// lines are handed to a goroutine, and are lost if too many wait.
type outlet struct {
	out   io.Writer
	warn  *slog.Logger // writes to out
	lines chan []byte
	lost  atomic.Uint64
	done  chan struct{}

	mu     sync.Mutex
	closed bool
}

func newOutlet(out io.Writer, warn *slog.Logger) *outlet {
	o := &outlet{out: out, warn: warn, lines: make(chan []byte, mostLines), done: make(chan struct{})}
	go o.run()
	return o
}

// Write takes one line. It does not wait, and keeps nothing of p.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return len(p), nil
	}
	select {
	case o.lines <- bytes.Clone(p):
	default:
		o.lost.Add(1)
	}
	return len(p), nil
}

func (o *outlet) run() {
	defer close(o.done)
	for line := range o.lines {
		o.out.Write(line)
		if n := o.lost.Swap(0); n > 0 {
			o.warn.Warn("lines of this log are lost, since nobody read it", "lost", n)
		}
	}
}

// Close waits until the lines are written, a second at most.
func (o *outlet) Close() {
	o.mu.Lock()
	o.closed = true
	close(o.lines)
	o.mu.Unlock()
	select {
	case <-o.done:
	case <-time.After(linesTime):
	}
}
