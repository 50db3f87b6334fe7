package accesslog

import (
	"bufio"
	"errors"
	"log/slog"
	"time"
)

const (
	// linger is how long the writer waits after a record woke it, for others
	// to come: so a loop has to wake it a thousand times a second at most,
	// and many lines share one write.
	linger = time.Millisecond

	// turn is how many records of one lane are written before those of the
	// next.
	turn = 1024

	bufferSize = 64 << 10
	warnPause  = 10 * time.Second // between two lines about the same trouble
)

// writer is the goroutine that drains the lanes.
type writer struct {
	log  *Log
	line line
	out  *bufio.Writer
	sink sink
	warn *slog.Logger

	asked []chan struct{} // who waits for Flush

	told     uint64 // how many lost ones have been told
	lostAt   time.Time
	failedAt time.Time
}

func newWriter(l *Log, c Config) *writer {
	w := &writer{log: l, out: bufio.NewWriterSize(nil, bufferSize), warn: c.Warn}
	if w.warn == nil {
		w.warn = slog.New(slog.DiscardHandler)
	}
	w.line = newLine(w.out, c.Format, &l.names)
	return w
}

func (w *writer) run(s sink) {
	defer close(w.log.done)
	w.sink = s
	w.out.Reset(s)
	for w.sleep() {
		w.drain()
	}
	err := w.drain()
	w.tellLost(time.Time{})
	w.log.failure = errors.Join(err, w.sink.close())
}

// sleep waits for work and lets some more come. It says false at the end.
func (w *writer) sleep() bool {
	w.log.asleep.Store(true)
	if !w.idle() { // something came before asleep was set
		w.log.asleep.Store(false)
		return w.pause()
	}
	select {
	case <-w.log.wake:
		return w.pause()
	case s := <-w.log.sinks:
		w.log.asleep.Store(false)
		w.change(s)
		return true
	case a := <-w.log.asked:
		w.log.asleep.Store(false)
		w.asked = append(w.asked, a)
		return true
	case <-w.log.stop:
		return false
	}
}

func (w *writer) pause() bool {
	t := time.NewTimer(linger)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.log.stop:
		return false
	}
}

func (w *writer) idle() bool {
	for i := range w.log.lanes {
		if !w.log.lanes[i].empty() {
			return false
		}
	}
	return true
}

// drain writes until the lanes are empty, and flushes.
func (w *writer) drain() error {
	for w.round() > 0 {
		w.tellLost(time.Now().Add(-warnPause))
		w.listen()
	}
	err := w.failed(w.out.Flush())
	w.answer()
	return err
}

// round gives each lane its turn.
func (w *writer) round() (n int) {
	for i := range w.log.lanes {
		n += w.log.lanes[i].drain(turn, w.write)
	}
	return n
}

// answer tells those who asked before that all lanes were found empty.
func (w *writer) answer() {
	for _, a := range w.asked {
		close(a)
	}
	w.asked = w.asked[:0]
}

func (w *writer) write(r *record) { w.failed(w.line.write(r)) }

// listen does what others ask for under load, when the writer never sleeps.
func (w *writer) listen() {
	select {
	case s := <-w.log.sinks:
		w.change(s)
	case a := <-w.log.asked:
		w.asked = append(w.asked, a)
	default:
	}
}

func (w *writer) change(s sink) {
	w.failed(w.out.Flush())
	w.failed(w.sink.close())
	w.sink = s
	w.out.Reset(s)
}

// failed tells that lines could not be written, and goes on: a disk that is
// full may have room again later.
func (w *writer) failed(err error) error {
	if err == nil {
		return nil
	}
	w.out.Reset(w.sink) // or else it would fail for ever
	if now := time.Now(); now.Sub(w.failedAt) >= warnPause {
		w.failedAt = now
		w.warn.Warn("access log: lines are lost", "error", err)
	}
	return err
}

// tellLost tells how many were lost since it last did, if that was before
// since; the zero time is always.
func (w *writer) tellLost(since time.Time) {
	n := w.log.Lost()
	if n == w.told || !since.IsZero() && w.lostAt.After(since) {
		return
	}
	w.warn.Warn("access log: too many lines wait, some are lost", "lost", n-w.told)
	w.told, w.lostAt = n, time.Now()
}
