package proxy

import (
	"errors"

	"penstock/stack/kernel"
)

// ErrStopped says that the loops have ended.
var ErrStopped = errors.New("the proxy has stopped")

// life is how far a proxy has come.
type life uint8

const (
	prepared life = iota // Run was not called
	running
	over
)

// Isolate calls f while every loop stands still between two of its turns, so
// that f may change what all of them use. Then they go on, and each does a
// turn. One f runs at a time. Before Run f just runs; when a loop has ended, or
// ends before all stand still, it does not run, and the error is ErrStopped.
//
// f runs on the caller's goroutine, which is no loop's: not within Ended. It
// has to be short, and must not call Isolate.
//
// The way is HAProxy's thread_isolate (include/haproxy/thread.h): changes are
// rare, so they wait for everybody, and nobody else ever takes a lock for them.
func (p *Proxy) Isolate(f func(now int64)) error {
	p.isolating.Lock()
	defer p.isolating.Unlock()
	switch p.life {
	case prepared:
		p.do(f)
		p.wakeAll() // their turn comes when they start
		return nil
	case over:
		return ErrStopped
	}
	arrived := make(chan struct{}, len(p.workers)) // who arrives never waits for us
	proceed := make(chan struct{})
	defer close(proceed)
	for _, w := range p.workers {
		w.loop.Do(func() { arrived <- struct{}{}; <-proceed })
	}
	for range p.workers {
		select {
		case <-arrived:
		case <-p.ending: // it never arrives
			return ErrStopped
		}
	}
	p.do(f)
	return nil
}

// do changes things, and shows what came of it.
func (p *Proxy) do(f func(now int64)) {
	f(kernel.Clock())
	p.publish()
}

func (p *Proxy) publish() {
	for _, w := range p.workers {
		w.publish()
	}
}

// setLife moves on to the next part of the proxy's life, when nobody isolates.
func (p *Proxy) setLife(l life) {
	p.isolating.Lock()
	p.life = l
	p.isolating.Unlock()
}

// loopEnded lets go who waits for a loop that has ended.
func (p *Proxy) loopEnded() { p.endOnce.Do(func() { close(p.ending) }) }
