package admin

import (
	"errors"
	"net/netip"
	"time"

	"penstock/lb/control/config"
)

// Control changes what runs. Any goroutine may call it at any time.
//
// A change is made on a copy: Config, Clone, SetPool or the like, Apply. So it
// is in force as a whole or not at all.
type Control interface {
	// Config is what is in force; nobody changes what it points to.
	Config() *config.Config
	// Apply puts next into force if old still is, else it says ErrConflict.
	// An error that is config.Mistakes is the user's; any other is not.
	// After an error old is in force. What is connected to the members with
	// the numbers in cut is reset, if next has them no more.
	Apply(old, next *config.Config, cut ...int) error
	// Pause makes everybody in a pool wait, or ends that.
	Pause(pool string, on bool) error
	// Flush refuses those who wait in a pool and pass the filter, and says
	// how many they were.
	Flush(pool string, f Filter) (int, error)
	// Waiters lists who waits, pool by pool in their order, after the first
	// skip of them and most at most. Total is how many pass the filter.
	Waiters(f Filter, skip, most int) (page []Waiter, total int, err error)
}

// ErrConflict says that what a change was based on is in force no more. Make
// it again, of what is.
var ErrConflict = errors.New("another change came first")

// Filter says which waiters are meant: those to whom all of it applies. The
// zero Filter is all of them.
type Filter struct {
	Pool    string
	Virtual string
	Client  netip.Prefix
	Older   time.Duration // waiting for at least that long
	Queue   Queue
}

// Queue is where somebody waits.
type Queue uint8

const (
	AnyQueue    Queue = iota
	PoolQueue         // for any member
	MemberQueue       // for the one they are persisted to
)

// queueWords are what the key "queue" of a filter takes.
var queueWords = map[string]Queue{"pool": PoolQueue, "member": MemberQueue}
