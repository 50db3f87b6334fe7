package cases

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// far is a network namespace of the servers' own, behind a link's arm: all that
// they know of clients is that penstock is their router. It ends with its last
// socket.
//
//	penstock | pn7-sN | pn7-dN, pn7-xN | pn7-yN, with the arm's address 2
//	           TAP      bridge, veth     veth, in the namespace
//
// Neither end of the veth segments or sums, so that on pn7-xN each frame is as
// it would be on a cable, in both directions.
type far struct {
	t    testing.TB
	l    *link
	ns   *os.File
	work chan func()
}

// newFar makes the namespace and what leads there.
func newFar(t testing.TB, l *link) *far {
	t.Helper()
	if _, err := exec.LookPath("ethtool"); err != nil {
		t.Skip("ethtool, which takes the offloads off: ", err)
	}
	f := emptyFar(t, l)
	n := itoa(l.n)
	t.Cleanup(func() {
		exec.Command("ip", "link", "delete", "pn7-d"+n).Run()
		exec.Command("ip", "link", "delete", "pn7-x"+n).Run()
	})
	l.newArm()
	l.arm.direct = true
	l.ip("link add pn7-d"+n+" type bridge mcast_snooping 0", "link add pn7-x"+n+" type veth peer name pn7-y"+n)
	for _, dev := range []string{l.arm.dev, "pn7-d" + n, "pn7-x" + n} {
		os.WriteFile("/proc/sys/net/ipv6/conf/"+dev+"/disable_ipv6", []byte("1"), 0) // it is none of the kernel's ends
	}
	for _, dev := range []string{"pn7-x" + n, "pn7-y" + n} {
		if err := run("", "ethtool", "-K", dev, "tso", "off", "gso", "off", "tx", "off"); err != nil {
			t.Fatal(err)
		}
	}
	l.ip("link set ARM master pn7-d"+n, "link set pn7-x"+n+" master pn7-d"+n, "link set pn7-y"+n+" netns "+f.path())
	l.ip("link set ARM up", "link set pn7-d"+n+" up", "link set pn7-x"+n+" up")
	f.settle("pn7-y" + n)
	return f
}

// emptyFar makes the namespace with nothing in it.
func emptyFar(t testing.TB, l *link) *far {
	t.Helper()
	f := &far{t: t, l: l, work: make(chan func())}
	ready, over := make(chan error), make(chan bool)
	go func() {
		defer close(over)
		f.live(ready)
	}()
	err := <-ready
	t.Cleanup(func() {
		close(f.work)
		<-over
		f.ns.Close()
	})
	if err != nil {
		t.Fatal("network namespace: ", err)
	}
	return f
}

// live is the thread that is in the namespace. It comes back: were it to end, so
// would all processes that it has ever started (Pdeathsig).
func (f *far) live(ready chan<- error) {
	runtime.LockOSThread()
	here := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
	home, err := os.Open(here)
	if err == nil {
		defer home.Close()
		err = unix.Unshare(unix.CLONE_NEWNET)
	}
	if err == nil {
		f.ns, err = os.Open(here)
	}
	ready <- err
	for do := range f.work {
		do()
	}
	if err == nil && unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
}

// path names the namespace for ip link.
func (f *far) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.ns.Fd()) }

// inside calls do on a thread that is in the namespace.
func (f *far) inside(do func() error) {
	f.t.Helper()
	done := make(chan error)
	f.work <- func() { done <- do() }
	if err := <-done; err != nil {
		f.t.Fatal(err)
	}
}

// settle gives a device that is in the namespace the servers' addresses, and
// has all others be behind penstock.
func (f *far) settle(dev string) {
	f.t.Helper()
	f.inside(func() error {
		insist(dev)
		return run(fmt.Sprintf(`link set lo up
link set %[1]s up
address replace %[2]v dev %[1]s
address replace %[3]v dev %[1]s nodad
route replace default via %[4]v
route replace ::/0 via %[5]v
`, dev, f.l.prefixA(2), f.l.prefixA6(2), f.l.atA(1), f.l.atA6(1)), "ip", "-batch", "-")
	})
}

// listen starts a server in there.
func (f *far) listen(name string, six bool, serve func(*visit)) *server {
	f.t.Helper()
	at := f.l.atA(2).String()
	if six {
		at = f.l.atA6(2).String()
	}
	var ln net.Listener
	f.inside(func() (err error) {
		ln, err = net.Listen("tcp", net.JoinHostPort(at, "0"))
		return err
	})
	return on(f.t, ln.(*net.TCPListener), name, serve, make(chan *visit, 1<<17))
}
