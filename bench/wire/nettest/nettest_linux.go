package nettest

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Enter moves the test's goroutine, for good, into a network of its own. It
// skips the test if that is not allowed. Goroutines that the test starts are not
// in it; sockets that it has opened stay so.
func Enter(t testing.TB) {
	t.Helper()
	runtime.LockOSThread() // not unlocked, so that the thread ends with its goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("a network of its own needs root: ", err)
	}
	// Else the kernel's own frames come between those of the test.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	IP(t, "link set lo up")
}

// IP is ip(8).
func IP(t testing.TB, command string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", command, err, out)
	}
}

// Veth makes a pair, both ends in this network.
func Veth(t testing.TB, one, other string) {
	t.Helper()
	IP(t, "link add "+one+" type veth peer name "+other)
	IP(t, "link set "+one+" up")
	IP(t, "link set "+other+" up")
}

// Tap makes a TAP device for several queues, whose reader is to come.
func Tap(t testing.TB, name string) {
	t.Helper()
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skip("no TAP devices here: ", err)
	}
	IP(t, "tuntap add dev "+name+" mode tap multi_queue")
	IP(t, "link set "+name+" up")
}
