package accesslog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNoFile is what Reopen says of a log that New made, or that is stderr.
var ErrNoFile = errors.New("access log: not a file")

var (
	errClosed = errors.New("access log: closed")
	errStuck  = errors.New("access log: nothing more can be written to it, and what waits is lost if that stays so")
)

// sink is what a log writes to, and closes if it opened it.
type sink struct {
	io.Writer
	file *os.File // nil: not ours to close
}

func (s sink) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Open starts a log that appends to a file, or to "stderr".
func Open(path string, c Config) (*Log, error) {
	if path == "stderr" {
		return New(os.Stderr, c), nil
	}
	s, err := openFile(path)
	if err != nil {
		return nil, err
	}
	l := newLog(c)
	l.path = path
	go newWriter(l, c).run(s)
	return l, nil
}

// openFile does not wait for somebody to read, if it is a FIFO.
func openFile(path string) (sink, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	if errors.Is(err, syscall.ENXIO) {
		err = fmt.Errorf("%w: nobody reads it", err)
	}
	if err != nil {
		return sink{}, fmt.Errorf("access log: %w", err)
	}
	return sink{f, f}, nil
}

// Reopen goes on in a file of the same path, after somebody has moved the old
// one away. On an error the old one stays in use: also if it takes nothing for
// a second, and so can't be left.
func (l *Log) Reopen() error {
	if l.path == "" {
		return ErrNoFile
	}
	s, err := openFile(l.path)
	if err != nil {
		return err
	}
	late := newHang()
	defer late.stop()
	select {
	case l.sinks <- s: // the writer owns it from here on
		return nil
	case <-l.done:
		s.close()
		return errClosed
	case <-late.over:
		s.close()
		return errStuck
	}
}
