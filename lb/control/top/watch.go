package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"time"
)

// patience is for one look at the proxy.
const patience = 5 * time.Second

// screen is what frames are drawn on.
type screen interface {
	// size is in characters; a height of 0 is any.
	size() (width, height int)
	draw(frame []line) error
	// live screens are drawn whenever something happens, others when there is
	// something new.
	live() bool
	// suspend gives the screen back while the program is stopped.
	suspend()
}

// watch looks at a proxy again and again.
type watch struct {
	look     func(ctx context.Context, pool string, waiters int) (*sample, error)
	screen   screen
	view     view
	once     bool
	interval time.Duration

	looking bool
	answers chan answer
	keys    <-chan key
	signals chan os.Signal
}

// answer is what came of a look. A look that panicked hands its panic over,
// since only the goroutine that has the screen can give it back.
type answer struct {
	sample *sample
	err    error
	panic  any
}

var errInterrupted = errors.New("interrupted")

func newWatch(c asker, o options) *watch {
	return &watch{
		look: func(ctx context.Context, pool string, waiters int) (*sample, error) {
			return lookAt(ctx, c, pool, waiters)
		},
		view: view{address: c.Address(), interval: o.interval},
		once: o.once, interval: o.interval,
		answers: make(chan answer, 1),
	}
}

// live watches on a terminal, and leaves it as it was.
func (w *watch) live(t *terminal) error {
	if err := t.enter(); err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer t.leave()
	defer t.close()
	signal.Notify(w.signals, resized, suspended)
	w.screen, w.keys = t, t.keys()
	w.view.live = true
	return w.run()
}

// run returns nil if somebody ended it.
func (w *watch) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for w.ask(ctx); ; {
		done, fresh, err := w.wait(ctx, tick.C)
		if err != nil || done {
			return err
		}
		if err := w.draw(fresh); err != nil {
			return err
		}
		if w.once && w.view.before != nil {
			return nil
		}
	}
}

// wait handles the next thing that happens. Fresh says whether it was an
// answer.
func (w *watch) wait(ctx context.Context, tick <-chan time.Time) (done, fresh bool, err error) {
	select {
	case now := <-tick:
		w.view.now = now
		w.ask(ctx)
	case a := <-w.answers:
		return false, true, w.take(a)
	case k, ok := <-w.keys:
		if !ok { // the terminal is gone
			return true, false, nil
		}
		return w.view.press(k), false, nil
	case s := <-w.signals:
		done, err = w.signal(s)
	}
	return done, false, err
}

func (w *watch) signal(s os.Signal) (done bool, err error) {
	switch {
	case s == resized:
		return false, nil
	case s == suspended:
		w.screen.suspend()
		return false, nil
	case w.view.now.IsZero() || w.once:
		return true, errInterrupted
	}
	return true, nil
}

// ask looks at the proxy, unless the last look is not over yet.
func (w *watch) ask(ctx context.Context) {
	if w.looking {
		return
	}
	w.looking = true
	pool, waiters := w.view.chosen, w.view.waitersWanted(w.screen)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			w.answers <- a
		}()
		a.sample, a.err = w.look(ctx, pool, waiters)
	}()
}

// take puts an answer into the view. That there never was one is an error;
// that there is none any more is shown.
func (w *watch) take(a answer) error {
	w.looking = false
	if a.panic != nil {
		panic(a.panic)
	}
	v := &w.view
	v.now = time.Now()
	if a.err != nil {
		v.failed = a.err
		if v.current == nil || w.once {
			return a.err
		}
		return nil
	}
	a.sample.at = v.now
	v.failed = nil
	if !v.paused {
		v.before, v.current = v.current, a.sample
	}
	v.choose()
	return nil
}

func (w *watch) draw(fresh bool) error {
	switch {
	case w.view.current == nil:
		return nil
	case !w.screen.live() && (!fresh || w.view.before == nil && w.view.failed == nil):
		return nil // without a look before, nothing is known per second
	}
	width, height := w.screen.size()
	return w.screen.draw(w.view.frame(width, height))
}

// press does what a key says, and says whether that is the end.
func (v *view) press(k key) (quit bool) {
	switch {
	case k == keyQuit:
		return true
	case k == keyPause:
		v.paused = !v.paused
	case k == keyUp:
		v.move(-1)
	case k == keyDown:
		v.move(+1)
	case k >= keyFirst && k <= keyLast && v.current != nil && int(k-keyFirst) < len(v.current.pools):
		v.chosen = v.current.pools[k-keyFirst].Name
	}
	return false
}

func (v *view) move(by int) {
	if v.current == nil || len(v.current.pools) == 0 {
		return
	}
	at := min(max(v.chosenAt()+by, 0), len(v.current.pools)-1)
	v.chosen = v.current.pools[at].Name
}

// choose sees that a pool is chosen if there is any.
func (v *view) choose() {
	if v.chosenAt() < 0 && len(v.current.pools) > 0 {
		v.chosen = v.current.pools[0].Name
	}
}

func (v *view) chosenAt() int {
	return slices.IndexFunc(v.current.pools, v.isChosen)
}
