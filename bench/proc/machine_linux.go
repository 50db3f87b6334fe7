package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Busy is the time that all processors were not idle since the machine began:
// that of every process, and what the kernel did for none of them. It is known to
// 10 ms.
func Busy() (time.Duration, error) {
	const tick = 10 * time.Millisecond
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first) // cpu user nice system idle iowait irq softirq steal ...
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", first)
	}
	var sum int64
	for i, field := range fields[1:8] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != 3 && i != 4 { // idle, and idle while it waits for a disk
			sum += n
		}
	}
	return time.Duration(sum) * tick, nil
}
