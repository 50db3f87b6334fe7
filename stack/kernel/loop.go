package kernel

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2/pkg/errors"
	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"github.com/panjf2000/gnet/v2/pkg/queue"

	"penstock/stack/sys"
	"penstock/stack/wheel"
)

// Handler is told what happens on a loop. It is called on the loop's
// goroutine and must not block. now is the loop's time, in nanoseconds, from
// Clock.
type Handler interface {
	// Accepted hands over a new connection's descriptor, which is not yet
	// registered: Watch or Close it.
	Accepted(listener, fd int, from sys.Peer, now int64)
	// Ready reports that more can be done with a socket.
	Ready(ref uint32, r sys.Ready, now int64)
	// Expired reports that a timer fired. If it is late, what was ready before has been
	// told of.
	Expired(timer uint32, now int64)
	// Turn is called after each of these, and after Wake. It returns when it
	// wants to be called at the latest: 0 never, a time in the past for soon.
	Turn(now int64) (due int64)
	// Late is called once after Later, when all that was ready at that moment has
	// been told of.
	Late()
}

// Loop is one event loop.
type Loop struct {
	// Constant after NewLoop.
	poller  *netpoll.Poller
	handler Handler
	budget  *Budget
	timer   int // timerfd
	waker   int // eventfd
	log     *slog.Logger

	// Owned by the loop.
	now       int64
	wheel     *wheel.Wheel
	armed     int64 // when the timerfd fires; 0: it does not run
	table     table
	listeners []listener
	acceptor  sys.Acceptor
	paused    bool  // listeners are off
	retryAt   int64 // look again at a paused listener, 0: wait for room
	lastWarn  int64
	later     bool  // Late is to be called
	heard     int64 // all that was ready then has been told of
	asked     int64 // what heard becomes, when the waker has been told of so many times more
	rounds    int

	woken atomic.Bool // a wake-up is on its way, or a turn is
}

// started is the start of the process's time.
var started = time.Now()

// Clock returns the time in monotonic nanoseconds; always positive.
func Clock() int64 { return int64(time.Since(started)) + 1 }

// NewLoop opens a loop's poller and timer.
func NewLoop(b *Budget, h Handler, log *slog.Logger) (*Loop, error) {
	p, err := netpoll.OpenPoller()
	if err != nil {
		return nil, fmt.Errorf("open poller: %w", err)
	}
	l := &Loop{poller: p, handler: h, budget: b, log: log, now: Clock(), table: newTable(), timer: -1, waker: -1}
	l.wheel = wheel.New(l.now)
	if err := l.openTimers(); err != nil {
		l.Free()
		return nil, err
	}
	return l, nil
}

// openTimers opens the timer and the waker.
func (l *Loop) openTimers() (err error) {
	if l.timer, err = sys.NewTimer(); err != nil {
		return fmt.Errorf("open timer: %w", err)
	}
	if l.waker, err = sys.NewWaker(); err != nil {
		return fmt.Errorf("open waker: %w", err)
	}
	for _, fd := range []int{l.timer, l.waker} { // edge-triggered, so that they need not be read
		if err := l.poller.AddRead(&netpoll.PollAttachment{FD: fd}, true); err != nil {
			return fmt.Errorf("watch timer: %w", err)
		}
	}
	return nil
}

// Run handles events until Stop. Sockets that are still registered are the
// handler's to close before Stop.
func (l *Loop) Run() error {
	err := l.poller.Polling(l.event)
	if err == errors.ErrEngineShutdown {
		return nil
	}
	return err
}

// Free closes what the loop owns. The caller does it when Run has returned and
// nobody wakes the loop any more: another loop that does would write into
// somebody else's descriptor.
func (l *Loop) Free() {
	l.CloseListeners()
	for _, fd := range []int{l.timer, l.waker} {
		if fd >= 0 {
			sys.Close(fd)
		}
	}
	l.poller.Close()
}

// Stop ends Run soon. The loop must be running.
func (l *Loop) Stop() {
	l.poller.Trigger(queue.HighPriority, func(any) error { return errors.ErrEngineShutdown }, nil)
}

// Wake has Turn called soon. It has an eventfd of its own: the poller's task
// queue allocates for each task.
func (l *Loop) Wake() {
	if !l.woken.Load() && l.woken.CompareAndSwap(false, true) {
		sys.Wake(l.waker)
	}
}

// Later has Late called soon: what is best done once for several events is done
// then. On the loop's goroutine. The poller does not say where a batch of events
// ends; the event of a waker, which it has told about behind all others, does.
func (l *Loop) Later() {
	if !l.later {
		l.later = true
		sys.Wake(l.waker)
	}
}

// Do has f called soon on the loop's goroutine, between two turns. f may wait
// for something: the next turn has a time of its own.
func (l *Loop) Do(f func()) {
	l.poller.Trigger(queue.HighPriority, func(any) error {
		l.now = Clock()
		l.table.batchOver() // the poller runs tasks behind the events
		f()
		l.now = Clock()
		l.turn()
		return nil
	}, nil)
}

// event is called by the poller for each descriptor that is ready.
func (l *Loop) event(fd int, ev netpoll.IOEvent, _ netpoll.IOFlags) error {
	l.now = Clock()
	l.woken.Store(true) // its turn comes anyway: who wakes it meanwhile need not
	ref, unsure := l.table.event(fd)
	switch {
	case ref != 0:
		r := sys.ReadyOf(ev)
		if unsure {
			r = sys.In | sys.Out | sys.Unsure
		}
		l.handler.Ready(ref, r, l.now)
	case fd == l.timer:
		l.armed = 0
	case fd == l.waker:
		if l.later {
			l.later = false
			l.handler.Late()
		}
		l.cameRound()
	default:
		if i := l.listenerOf(fd); i >= 0 {
			l.accept(i)
		}
	}
	l.table.done()
	l.woken.Store(false) // before turn looks: what comes later wakes again
	l.turn()
	return nil
}

// turn does what is due, lets the handler do what came up, and sets the timer.
func (l *Loop) turn() {
	l.fire()
	due := l.handler.Turn(l.now)
	if l.paused {
		l.tryResume()
		due = sooner(due, l.retryAt)
	}
	if due != 0 && due <= l.now {
		l.Wake()
		due = 0
	}
	if at, ok := l.wheel.Next(); ok && l.rounds == 0 {
		due = sooner(due, at)
	}
	if due != 0 && (l.armed == 0 || due < l.armed) {
		l.armed = due
		sys.SetTimer(l.timer, due-l.now)
	}
}

// lateBy is how late timers may be before it matters what else is late.
const lateBy = int64(20 * time.Millisecond)

// fire tells of the timers that are due. Where they are late, the machine or this
// loop having stood still, an answer may be there that they are to miss: then all that
// is ready is told of first.
func (l *Loop) fire() {
	to := l.now
	if at, ok := l.wheel.Next(); ok && at < l.now-lateBy {
		to = l.heard
		if at > l.heard && l.rounds == 0 {
			l.asked, l.rounds = l.now, 2
			sys.Wake(l.waker)
		}
	}
	l.wheel.Advance(to, l.expired)
}

// cameRound counts the waker's events that fire waits for. The first may have been on
// its way already, the second is behind all that was ready before it.
func (l *Loop) cameRound() {
	switch l.rounds {
	case 0:
		return
	case 1:
		l.heard = l.asked
	default:
		sys.Wake(l.waker)
	}
	l.rounds--
}

func (l *Loop) expired(id uint32) { l.handler.Expired(id, l.now) }

func sooner(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// StartTimer makes timer id fire at the given time; a running one is moved.
func (l *Loop) StartTimer(id uint32, at int64) { l.wheel.Start(id, at) }

// StopTimer stops timer id.
func (l *Loop) StopTimer(id uint32) { l.wheel.Stop(id) }
