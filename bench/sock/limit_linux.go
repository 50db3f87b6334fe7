package sock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors is how many more descriptors this process may open, 0 if that
// can't be found out.
func Descriptors() int {
	var limit unix.Rlimit
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil || unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return max(int(min(limit.Cur, 1<<30))-len(open)+1, 0) // one is the directory itself
}

// Reserve has the runtime open the descriptors that it needs to wait for a time. It
// does so when somebody waits first, and if there is none left then it ends the
// program.
func Reserve() { time.Sleep(1) }

// Punctual lets the waits of the calling thread end when they should and not up
// to 50 µs later, as the kernel else allows itself so as to sleep longer.
func Punctual() { unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
