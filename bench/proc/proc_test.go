package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The CPU clock and the file that people look at must tell the same.
func TestCPUAgreesWithStat(t *testing.T) {
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
	}
	ticks := statTicks(t, os.Getpid())
	cpu, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if d := cpu - time.Duration(ticks)*10*time.Millisecond; d < -30*time.Millisecond || d > 60*time.Millisecond {
		t.Errorf("CPU clock %v, /proc/PID/stat %d ticks", cpu, ticks)
	}
}

func statTicks(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return user + system
}

func TestMemoryGrows(t *testing.T) {
	before, err := Memory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	b := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	after, _ := Memory(os.Getpid())
	if grown := after - before; grown < size/2 || grown > 4*size { // the race detector keeps shadows
		t.Errorf("grew by %d bytes for %d", grown, len(b))
	}
}

func TestDescriptors(t *testing.T) {
	before, err := Descriptors(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if after, _ := Descriptors(os.Getpid()); after != before+2 {
		t.Errorf("a pipe took %d descriptors", after-before)
	}
}

func TestNoSuchProcess(t *testing.T) {
	const none = 1 << 23 // above any pid_max
	if _, err := CPU(none); err == nil {
		t.Error("CPU: no error")
	}
	if _, err := Memory(none); err == nil {
		t.Error("Memory: no error")
	}
	if _, err := Descriptors(none); err == nil {
		t.Error("Descriptors: no error")
	}
}
