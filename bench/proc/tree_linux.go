package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Tree is a process and those that come from it, as the workers of a master.
// It is empty if the process is gone.
func Tree(pid int) (pids []int) {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return nil
	}
	pids = []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, Tree(child)...)
			}
		}
	}
	return pids
}

// TreeCPU is the CPU time that the trees of these processes have used, with
// those of them that have ended and been waited for: else a master that replaces
// its workers would seem to give time back. What the ended used is known to
// 20 ms for each parent, the rest as CPU.
func TreeCPU(pids ...int) (sum time.Duration, err error) {
	err = each(pids, func(pid int) error {
		cpu, err := CPU(pid)
		sum += cpu + ended(pid)
		return err
	})
	return sum, err
}

// ended is the CPU time of the children of a process that it has waited for, and
// of theirs: cutime and cstime of proc(5), which are in hundredths of a second
// on all machines. 0 if the process is gone.
func ended(pid int) (sum time.Duration) {
	const user, system = 13, 14 // fields after the name, which ends with the last ")"
	const tick = 10 * time.Millisecond
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= system {
		return 0
	}
	for _, field := range fields[user : system+1] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(ticks) * tick
	}
	return sum
}

// Size is what processes hold.
type Size struct {
	Memory      int64 // bytes, as Memory
	Descriptors int
}

// TreeSize is what the trees of these processes hold. It costs them a moment
// for each gigabyte, so it is not to be asked while they are timed.
func TreeSize(pids ...int) (sum Size, err error) {
	err = each(pids, func(pid int) error {
		memory, err := Memory(pid)
		if err != nil {
			return err
		}
		n, err := Descriptors(pid)
		sum.Memory += memory
		sum.Descriptors += n
		return err
	})
	return sum, err
}

// each visits all processes of the trees. One that ends while it is looked at is
// left out; that none of a tree is there is an error.
func each(roots []int, look func(pid int) error) error {
	for _, root := range roots {
		found := 0
		for _, pid := range Tree(root) {
			if look(pid) == nil {
				found++
			}
		}
		if found == 0 {
			return fmt.Errorf("process %d is gone", root)
		}
	}
	return nil
}
