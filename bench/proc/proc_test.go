package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The CPU clock and the file that people look at must tell the same.
func TestCPUAgreesWithStat(t *testing.T) {
	busy(t, 200*time.Millisecond)
	before, err1 := CPU(os.Getpid())
	ticks := statTicks(t, os.Getpid())
	after, err2 := CPU(os.Getpid()) // who knows how long that took
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const grain = 30 * time.Millisecond
	if stat := time.Duration(ticks) * 10 * time.Millisecond; stat < before-grain || stat > after+grain {
		t.Errorf("CPU clock %v to %v, /proc/PID/stat %d ticks", before, after, ticks)
	}
}

// busy uses a processor for so long, however long it takes to get one.
func busy(t *testing.T, long time.Duration) {
	t.Helper()
	before, err := CPU(os.Getpid())
	for now := before; now-before < long && err == nil; {
		now, err = CPU(os.Getpid())
	}
	if err != nil {
		t.Fatal(err)
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
	// Not of the heap, which may have as much to spare.
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	after, err := Memory(os.Getpid())
	if grown := after - before; err != nil || grown < size/2 || grown > 2*size {
		t.Errorf("grew by %d bytes for %d: %v", grown, size, err)
	}
}

func TestDescriptors(t *testing.T) {
	before, err := Descriptors(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var pipe [2]int // package os may open more for the first one
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	if after, _ := Descriptors(os.Getpid()); after != before+2 {
		t.Errorf("a pipe took %d descriptors", after-before)
	}
}

// A child counts with its parent. It has much of its own, for what a shell has is
// shared with every other shell, and becomes more when they end.
func TestTree(t *testing.T) {
	const own = 32 << 20
	cmd := exec.Command("sh", "-c", fmt.Sprintf("dd if=/dev/zero bs=%d count=1 & wait", own))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if _, err := out.Read(make([]byte, 1)); err != nil { // the child has filled its buffer, and can't write it all
		t.Fatal(err)
	}
	if pids := Tree(cmd.Process.Pid); len(pids) != 2 || pids[0] != cmd.Process.Pid {
		t.Errorf("%v, want %d and its child", pids, cmd.Process.Pid)
	}
	size, err := TreeSize(cmd.Process.Pid)
	memory, err2 := Memory(cmd.Process.Pid)
	descriptors, _ := Descriptors(cmd.Process.Pid)
	if err != nil || err2 != nil || size.Memory < memory+own/2 || size.Descriptors <= descriptors {
		t.Error(size, memory, descriptors, err, err2)
	}
	if cpu, err := TreeCPU(cmd.Process.Pid); err != nil || cpu <= 0 {
		t.Error(cpu, err)
	}
}

// What a child has used stays with its parent when it has ended, as the workers
// of a master that are replaced.
func TestTreeKeepsTheTimeOfTheEnded(t *testing.T) {
	cmd := exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; read x'; echo; exec sleep 100`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	out.Read(make([]byte, 1)) // the child has done its work, and lives
	before, err := TreeCPU(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	in.Write([]byte("\n"))
	out.Read(make([]byte, 1)) // it was waited for
	after, err := TreeCPU(cmd.Process.Pid)
	const grain = 20 * time.Millisecond
	if err != nil || after < before-grain {
		t.Errorf("%v of CPU, then %v: %v", before, after, err)
	}
	if before < 2*grain {
		t.Errorf("the child used %v only: this shows nothing", before)
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
	if _, err := TreeCPU(os.Getpid(), none); err == nil {
		t.Error("TreeCPU: no error")
	}
	if _, err := TreeSize(none); err == nil {
		t.Error("TreeSize: no error")
	}
}
