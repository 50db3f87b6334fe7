package accesslog

import (
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"penstock/stack/proxy"
)

// Config says how a log looks.
type Config struct {
	Format string // "text" or "json"
	Names  Names
	Loops  int
	Warn   *slog.Logger // told of lost lines and failed writes; nil: nobody
}

// mostWaiting is how many records wait in one lane before more are lost:
// about 90 MB, twenty seconds of a busy loop.
const mostWaiting = 1 << 20

// Log is an access log. Ended is for the loops, each with its own number; the
// other methods are for anybody.
type Log struct {
	// Constant after New.
	lanes []lane
	most  uint64 // in a lane
	wake  chan struct{}
	sinks chan sink
	asked chan chan struct{} // each closed when all is written that was there
	stop  chan struct{}
	done  chan struct{} // closed when the writer has ended
	path  string        // "" for a log that can't be reopened

	names   atomic.Pointer[Names]
	closing sync.Once
	asleep  atomic.Bool // the writer waits for wake
	failure error       // of Close; written before done is closed
}

// New starts a log that writes to w. It does not close w.
func New(w io.Writer, c Config) *Log {
	l := newLog(c)
	go newWriter(l, c).run(sink{Writer: w})
	return l
}

func newLog(c Config) *Log {
	l := &Log{
		lanes: make([]lane, c.Loops), most: mostWaiting,
		wake: make(chan struct{}, 1), sinks: make(chan sink), asked: make(chan chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	l.names.Store(&c.Names)
	return l
}

// SetNames changes what numbers are called, for lines that are not written
// yet; see Flush. Nobody changes n afterwards.
func (l *Log) SetNames(n Names) { l.names.Store(&n) }

// What is written to may hang, and must hold up nobody. Tests in which nothing
// hangs wait longer.
var (
	stuckTime = time.Second      // nothing was written for that long
	closeTime = 10 * time.Second // for all that waits at the end
)

// Flush waits until the lines of all connections that have ended are written,
// so that numbers may be given to others; a second at most.
func (l *Log) Flush() {
	written := make(chan struct{})
	late := newHang()
	defer late.stop()
	select {
	case l.asked <- written:
	case <-l.done:
		return
	case <-late.over:
		return
	}
	select {
	case <-written:
	case <-l.done:
	case <-late.over:
	}
}

// Ended notes that a connection of a loop has ended. Only that loop may call
// it. It neither blocks nor keeps e.
func (l *Log) Ended(loop int, e *proxy.Ended) {
	if l.lanes[loop].push(newRecord(e, time.Now()), l.most) {
		l.rouse()
	}
}

// rouse wakes the writer if it sleeps. A record is pushed before this looks
// at asleep, and asleep is set before the writer looks at the lanes a last
// time: one of the two sees the other.
func (l *Log) rouse() {
	if l.asleep.Load() && l.asleep.CompareAndSwap(true, false) {
		select {
		case l.wake <- struct{}{}:
		default: // it is on its way
		}
	}
}

// Lost returns how many connections have no line, since too many waited.
func (l *Log) Lost() (n uint64) {
	for i := range l.lanes {
		n += l.lanes[i].lost.Load()
	}
	return n
}

// Close writes what waits and ends the log, unless nothing can be written for
// a second; it takes ten at most. The loops must have stopped: what they say
// later has no line.
func (l *Log) Close() error {
	l.closing.Do(func() { close(l.stop) })
	for since := time.Now(); ; {
		before := l.written()
		late := newHang()
		select {
		case <-l.done:
			late.stop()
			return l.failure
		case <-late.over:
		}
		if l.written() == before || time.Since(since) >= closeTime {
			return errStuck
		}
	}
}

// written returns how many records have been turned into lines.
func (l *Log) written() (n uint64) {
	for i := range l.lanes {
		n += l.lanes[i].popped.Load()
	}
	return n
}
