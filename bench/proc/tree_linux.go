package proc

import (
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

// Use is what processes hold and have used, together.
type Use struct {
	CPU         time.Duration
	Memory      int64 // bytes
	Descriptors int
}

// UseOf sums up the trees of the processes. One that ends while it is looked at
// is left out; that none of a tree is there is an error.
func UseOf(pids ...int) (sum Use, err error) {
	for _, root := range pids {
		found := 0
		for _, pid := range Tree(root) {
			u, err := use(pid)
			if err != nil {
				continue
			}
			found++
			sum.CPU += u.CPU
			sum.Memory += u.Memory
			sum.Descriptors += u.Descriptors
		}
		if found == 0 {
			return sum, fmt.Errorf("process %d is gone", root)
		}
	}
	return sum, nil
}

func use(pid int) (u Use, err error) {
	if u.CPU, err = CPU(pid); err != nil {
		return u, err
	}
	if u.Memory, err = Memory(pid); err != nil {
		return u, err
	}
	u.Descriptors, err = Descriptors(pid)
	return u, err
}
