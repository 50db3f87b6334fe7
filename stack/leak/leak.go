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
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines that were told to end may take to. goleak's own
// is less than half a second, in which a machine may stand still.
const patience = 20 * time.Second

// Main runs the tests and exits.
func Main(m *testing.M) {
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // opens what the runtime keeps
		ln.Close()
	}
	before := Descriptors()
	code := m.Run()
	if code == 0 && !nothingLeft(before) {
		code = 1
	}
	os.Exit(code)
}

// nothingLeft waits for goroutines to end, and says what is left then. Descriptors
// are not waited for: they go with a goroutine or with nobody, and the garbage
// collector might close one that was forgotten.
func nothingLeft(before int) bool {
	err := goleak.Find()
	for end := time.Now().Add(patience); err != nil && time.Now().Before(end); {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "goleak: %v\n", err)
		return false
	}
	if n := Descriptors(); n > before {
		fmt.Fprintf(os.Stderr, "%d descriptors open, %d at the start\n", n, before)
		list()
		return false
	}
	return true
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
