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

// stream starts a server that sends for ever, and returns its address.
func (c *crowd) stream() string { c.t.Helper(); return c.ask("stream", "127.0.0.1:0", 0) }

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
		var n int
		fmt.Sscan(lines.Text(), &what, &to, &n)
		answer, err := crowdDo(what, netip.MustParseAddrPort(to), n)
		if err != nil {
			fmt.Fprintln(out, strings.ReplaceAll(err.Error(), "\n", " "))
			return 1
		}
		fmt.Fprintln(out, "ok", answer)
	}
	return 0
}

func crowdDo(what string, to netip.AddrPort, n int) (answer string, err error) {
	const request = 1
	switch what {
	case "connect":
		return "", connectRaw(to, n)
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
	sa := &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	for i := range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("socket %d: %w", i, err)
		}
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		if err := unix.Connect(fd, sa); err != nil {
			return fmt.Errorf("connect %d: %w", i, err)
		}
		if _, err := unix.Write(fd, []byte("hello\n")); err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
	}
	return nil
}
