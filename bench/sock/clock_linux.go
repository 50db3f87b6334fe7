package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock tells CLOCK_MONOTONIC in nanoseconds: the same for all processes of
// one machine, so that what one has sent can be timed by another.
type Clock struct {
	epoch time.Time
	base  int64
}

// NewClock reads the clock once; Now then costs no system call.
func NewClock() Clock {
	var ts unix.Timespec
	epoch := time.Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every Linux has it
	}
	return Clock{epoch, ts.Nano()}
}

// Now is the time in nanoseconds since an arbitrary moment before the boot.
func (c Clock) Now() int64 { return c.base + int64(time.Since(c.epoch)) }
