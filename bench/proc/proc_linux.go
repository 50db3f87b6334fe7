package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the CPU time that all threads of a process have used, those that
// ended too, in user mode and in the kernel.
//
// It is utime+stime of /proc/PID/stat, from the same sum in the kernel, but in
// nanoseconds and not in ticks of 10 ms: the process's CPU clock.
func CPU(pid int) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// cpuClock is clock_getcpuclockid(3): the number is part of the kernel's ABI.
func cpuClock(pid int) int32 {
	const sched = 2
	return ^int32(pid)<<3 | sched
}

// Memory returns the resident memory of a process in bytes. Pages shared with
// other processes count in equal parts.
func Memory(pid int) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if kb, ok := kilobytes(lines.Text(), "Pss:"); ok {
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("%s: no Pss", f.Name())
}

// kilobytes reads a line as "Pss:    1234 kB".
func kilobytes(line, key string) (int64, bool) {
	rest, ok := strings.CutPrefix(line, key)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
	return n, err == nil
}

// Descriptors returns how many file descriptors a process has open.
func Descriptors(pid int) (int, error) {
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(names), err
}
