package cases

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	load "penstock/bench/client"
	source "penstock/bench/server"
)

// crowdEnv makes the test binary a crowd.
const crowdEnv = "PENSTOCK_CASES_CROWD"

// crowd is clients in a process of their own: since one process has not
// descriptors enough for both ends of a test, or so that their work does not
// disturb what is measured.
type crowd struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// newCrowd starts an empty crowd. It leaves when the test ends.
func newCrowd(t testing.TB) *crowd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdEnv+"=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &crowd{t, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		c.leave()
		cmd.Wait()
	})
	return c
}

// ask sends a command and returns the answer.
func (c *crowd) ask(command ...any) string {
	c.t.Helper()
	fmt.Fprintln(c.in, command...)
	answer, err := c.out.ReadString('\n')
	if answer, ok := strings.CutPrefix(answer, "ok "); ok && err == nil {
		return strings.TrimSpace(answer)
	}
	c.t.Fatalf("crowd: %q %v", answer, err)
	return ""
}

// connect adds n clients of addr that say hello and then nothing.
func (c *crowd) connect(addr string, n int) { c.t.Helper(); c.ask("connect", addr, n) }

// spread adds n clients of a TAP front end, from so many prefixes of 24 bits.
// They say hello when they are connected.
func (c *crowd) spread(addr string, n, prefixes int) {
	c.t.Helper()
	c.ask("connect", addr, n, prefixes)
}

// answered counts those who are connected by now.
func (c *crowd) answered() (n int) {
	c.t.Helper()
	fmt.Sscan(c.ask("answered", "0.0.0.0:0", 0), &n)
	return n
}

// stream starts a server that sends for ever, and returns its address.
func (c *crowd) stream() string { c.t.Helper(); return c.ask("stream", home(false)+":0", 0) }

// bulk adds n clients of addr that receive for ever, as fast as they can.
func (c *crowd) bulk(addr string, n int) { c.t.Helper(); c.ask("bulk", addr, n) }

// leave ends the crowd: who has connected resets.
func (c *crowd) leave() {
	c.in.Close()
	c.out.ReadString('\n') // until it has ended
}

// crowdMain is the crowd's process. It yields to those who are measured.
func crowdMain(in io.Reader, out io.Writer) int {
	unix.Setpriority(unix.PRIO_PROCESS, 0, 5)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var what, to string
		var n, prefixes int
		fmt.Sscan(lines.Text(), &what, &to, &n, &prefixes)
		answer, err := crowdDo(what, netip.MustParseAddrPort(to), n, prefixes)
		if err != nil {
			fmt.Fprintln(out, strings.ReplaceAll(err.Error(), "\n", " "))
			return 1
		}
		fmt.Fprintln(out, "ok", answer)
	}
	return 0
}

func crowdDo(what string, to netip.AddrPort, n, prefixes int) (answer string, err error) {
	const request = 1
	switch what {
	case "connect":
		if os.Getenv(insideEnv) != "" { // over TAP, who is parked is still connecting
			return "", connectLate(to, n, prefixes)
		}
		return "", connectRaw(to, n)
	case "answered":
		return itoa(int(answered.Load())), nil
	case "stream":
		s, err := source.Listen(source.Config{Listen: []netip.AddrPort{to}, Request: request, Then: source.Stream})
		if err != nil {
			return "", err
		}
		go s.Serve(context.Background())
		return s.Addresses()[0].String(), nil
	case "bulk":
		go load.Run(context.Background(), load.Config{
			Target: to, Work: load.Bulk, Flows: n, Request: request, For: time.Hour,
		}, load.Events{})
		return "", nil
	}
	return "", fmt.Errorf("what is %q?", what)
}

// connectRaw opens n connections, which the process's end resets.
func connectRaw(to netip.AddrPort, n int) error {
	sa := sockaddr(to)
	for i := range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("socket %d: %w", i, err)
		}
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		if err := unix.Connect(fd, sa); err != nil {
			return fmt.Errorf("connect %d: %w", i, err)
		}
		if _, err := unix.Write(fd, hello); err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
	}
	return nil
}

var hello = []byte("hello\n")

// connectLate begins n connections.
func connectLate(to netip.AddrPort, n, prefixes int) error {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	go sayHello(ep)
	for i := range n {
		source := ""
		if prefixes > 0 {
			source = "198.19." + itoa(i%prefixes) + ".1"
		}
		fd, err := begin(source, to)
		if err != nil {
			return fmt.Errorf("connect %d: %w", i, err)
		}
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		event := unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLONESHOT, Fd: int32(fd)}
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return fmt.Errorf("epoll %d: %w", i, err)
		}
	}
	return nil
}

// answered counts who has said hello late.
var answered atomic.Int64

// sayHello has each say it as soon as it is connected.
func sayHello(ep int) {
	for events := make([]unix.EpollEvent, 64); ; {
		n, _ := unix.EpollWait(ep, events, -1)
		for i := range max(n, 0) {
			if _, err := unix.Write(int(events[i].Fd), hello); err == nil {
				answered.Add(1)
			}
		}
	}
}
