package proxy

import (
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Goroutines and descriptors that are left over fail the package.
func TestMain(m *testing.M) {
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // opens what the runtime keeps
		ln.Close()
	}
	before := descriptors()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if n := descriptors(); n > before && code == 0 {
			fmt.Fprintf(os.Stderr, "%d descriptors open, %d at the start\n", n, before)
			for fd := range 1024 {
				if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
					fmt.Fprintln(os.Stderr, fd, to)
				}
			}
			code = 1
		}
		os.Exit(code)
	}))
}

// descriptors returns how many the process has open.
func descriptors() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	return len(d)
}
