// Package leak fails a package's tests if they leave a goroutine or a
// descriptor behind. It is for TestMain:
//
//	func TestMain(m *testing.M) { leak.Main(m) }
package leak

import (
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests and exits.
func Main(m *testing.M) {
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // opens what the runtime keeps
		ln.Close()
	}
	before := Descriptors()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if n := Descriptors(); n > before && code == 0 {
			fmt.Fprintf(os.Stderr, "%d descriptors open, %d at the start\n", n, before)
			list()
			code = 1
		}
		os.Exit(code)
	}))
}

// list says what the open descriptors are.
func list() {
	for fd := range 1024 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			fmt.Fprintln(os.Stderr, fd, to)
		}
	}
}

// Descriptors returns how many the process has open.
func Descriptors() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	return len(d)
}
