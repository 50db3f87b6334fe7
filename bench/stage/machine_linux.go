package stage

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"penstock/bench/result"
)

// Machine says where the stage stands. Versions are the caller's to add to.
func (s *Stage) Machine() result.Machine {
	average, _, _ := strings.Cut(word("/proc/loadavg"), " ")
	return result.Machine{
		Kernel:   kernel(),
		CPU:      field("/proc/cpuinfo", "model name"),
		Cores:    runtime.NumCPU(),
		Memory:   memory(field("/proc/meminfo", "MemTotal")),
		Network:  s.Network,
		Load:     average,
		Versions: map[string]string{"go": runtime.Version()},
	}
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// field is the value of the first line "key: value" of a file.
func field(file, key string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// memory reads "16384 kB" as bytes, anything else as 0.
func memory(text string) int64 {
	kb, _ := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	return kb << 10
}
