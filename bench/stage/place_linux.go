package stage

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Place is a network, and a thread in it. Its methods may be called from any
// goroutine.
type Place struct {
	calls chan func() // for the thread
	gone  chan struct{}
	guard *guard
}

func newPlace(g *guard) *Place {
	p := &Place{calls: make(chan func()), gone: make(chan struct{}), guard: g}
	go p.serve()
	return p
}

// serve is the place's thread. A network namespace belongs to a thread, and a
// process is killed when the thread that started it ends, so one thread does all
// that and nothing else; it is never given back to the runtime.
func (p *Place) serve() {
	defer close(p.gone)
	runtime.LockOSThread()
	for call := range p.calls {
		call()
	}
}

// Do calls f in the place's network, on its thread, and returns when f has. What
// f leaves to other goroutines happens elsewhere. f must not call Do.
func (p *Place) Do(f func()) {
	done := make(chan struct{})
	p.calls <- func() { defer close(done); f() }
	<-done
}

// thread is its number, by which the kernel finds the place's network.
func (p *Place) thread() (id int) {
	p.Do(func() { id = unix.Gettid() })
	return id
}

// leave ends the thread, and with it a network that is only its own.
func (p *Place) leave() {
	close(p.calls)
	<-p.gone
}

// Listening waits until somebody listens at the address. It does not connect:
// the first that servers and proxies see is the work. The process that is
// expected to listen is c; its end is an error that quotes what it said.
func (p *Place) Listening(ctx context.Context, a netip.AddrPort, c *Child, within time.Duration) error {
	late := time.After(within)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		var there bool
		var err error
		p.Do(func() { there, err = listens(a) })
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
func (p *Place) Start(ctx context.Context, argv ...string) (c *Child, err error) {
	p.Do(func() { c, err = start(ctx, p.guard, argv) })
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	go c.watch(p.guard)
	return c, nil
}
