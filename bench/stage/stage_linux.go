package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"
)

// Stage is the place of one run after the other. Its methods may be called from
// any goroutine.
type Stage struct {
	Dir     string // for files, deleted by Close
	Network string // where it is, for people

	calls chan func() // for the stage's thread
	gone  chan struct{}
	guard *guard
	port  uint16 // the last one given out; of the thread
}

// The ports after firstPort lie below those that the kernel gives to connections
// (from 32768 on).
const firstPort, lastPort = 20000, 31999

// Open makes a stage, with the congestion control of this name if that may be
// chosen; empty is the machine's. One that the kernel does not have is
// ErrCongestion.
func Open(congestion string) (*Stage, error) {
	dir, err := os.MkdirTemp("", "penbench")
	if err != nil {
		return nil, err
	}
	g, err := newGuard(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	s := &Stage{Dir: dir, calls: make(chan func()), gone: make(chan struct{}), guard: g, port: firstPort}
	go s.serve()
	if s.Do(func() { s.Network, err = enter(congestion) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// serve is the stage's thread. A network namespace belongs to a thread, and a
// process is killed when the thread that started it ends, so one thread does all
// that and nothing else; it is never given back to the runtime.
func (s *Stage) serve() {
	defer close(s.gone)
	runtime.LockOSThread()
	for call := range s.calls {
		call()
	}
}

// Do calls f in the stage's network, on its thread, and returns when f has. What
// f leaves to other goroutines happens elsewhere. f must not call Do.
func (s *Stage) Do(f func()) {
	done := make(chan struct{})
	s.calls <- func() { defer close(done); f() }
	<-done
}

// Close ends the stage, its directory and its network; the processes are the
// caller's to End before.
func (s *Stage) Close() error {
	close(s.calls)
	<-s.gone
	s.guard.end()
	return os.RemoveAll(s.Dir)
}

// word is what a small file says, empty if there is none.
func word(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text))
}

// Address returns one of 127.0.0.1 that nobody uses. None is given out twice
// before all were. Where all are in use it is one of these: who listens there
// tells.
func (s *Stage) Address() (a netip.AddrPort) {
	s.Do(func() {
		a = s.next()
		for tries := lastPort - firstPort; tries > 0 && !free(a); tries-- {
			a = s.next()
		}
	})
	return a
}

func (s *Stage) next() netip.AddrPort {
	if s.port++; s.port > lastPort {
		s.port = firstPort
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), s.port)
}

func free(a netip.AddrPort) bool {
	l, err := net.Listen("tcp", a.String())
	if err == nil {
		l.Close()
	}
	return err == nil
}

// Listening waits until somebody listens at the address. It does not connect:
// the first that servers and proxies see is the work. The process that is
// expected to listen is c; its end is an error that quotes what it said.
func (s *Stage) Listening(ctx context.Context, a netip.AddrPort, c *Child, within time.Duration) error {
	late := time.After(within)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		var there bool
		var err error
		s.Do(func() { there, err = listens(a) })
		if there || err != nil {
			return err
		}
		select {
		case <-look.C:
		case <-c.Done():
			return fmt.Errorf("%s ended: %s", c.Name(), c.Words())
		case <-late:
			return fmt.Errorf("%s does not listen at %v after %v: %s", c.Name(), a, within, c.Words())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listens looks into the kernel's table of this thread's network.
func listens(a netip.AddrPort) (bool, error) {
	const table = "/proc/thread-self/net/tcp"
	text, err := os.ReadFile(table)
	if err != nil {
		return false, err
	}
	ip := a.Addr().As4()
	local := fmt.Sprintf(": %02X%02X%02X%02X:%04X ", ip[3], ip[2], ip[1], ip[0], a.Port())
	for line := range strings.Lines(string(text)) {
		_, rest, found := strings.Cut(line, local)
		if fields := strings.Fields(rest); found && len(fields) > 1 && fields[1] == "0A" {
			return true, nil
		}
	}
	return false, nil
}

// Start runs a command in the stage's network. It gets SIGTERM when ctx is
// done, and SIGKILL if it does not end then.
func (s *Stage) Start(ctx context.Context, argv ...string) (c *Child, err error) {
	s.Do(func() { c, err = start(ctx, argv) })
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	s.guard.began(c.PID())
	go c.watch(s.guard)
	return c, nil
}
