package cases

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// crowdEnv makes the test binary a crowd: where it connects to.
const crowdEnv = "PENSTOCK_CASES_CROWD"

// crowd is many silent clients in a process of their own, since one process
// has not descriptors enough for both ends of a test.
type crowd struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// crowdOf starts an empty crowd in front of the proxy.
func crowdOf(t testing.TB, p *proxy) *crowd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdEnv+"="+p.addr)
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
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &crowd{t, in, bufio.NewReader(out)}
}

// connect adds n clients.
func (c *crowd) connect(n int) {
	c.t.Helper()
	fmt.Fprintln(c.in, "connect", n)
	if answer, err := c.out.ReadString('\n'); err != nil || answer != "ok\n" {
		c.t.Fatalf("crowd: %q %v", answer, err)
	}
}

// leave has everybody close.
func (c *crowd) leave() {
	c.in.Close()
	c.out.ReadString('\n') // it ended
}

// crowdMain is the crowd's process.
func crowdMain(in io.Reader, out io.Writer) int {
	to, err := net.ResolveTCPAddr("tcp4", os.Getenv(crowdEnv))
	if err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	sa := &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "connect %d", &n); err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		if err := connectRaw(sa, n); err != nil {
			fmt.Fprintln(out, strings.ReplaceAll(err.Error(), "\n", " "))
			return 1
		}
		fmt.Fprintln(out, "ok")
	}
	return 0
}

// connectRaw opens n connections and leaves them to the process's end.
func connectRaw(to unix.Sockaddr, n int) error {
	for i := range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("socket %d: %w", i, err)
		}
		if err := unix.Connect(fd, to); err != nil {
			return fmt.Errorf("connect %d: %w", i, err)
		}
	}
	return nil
}
