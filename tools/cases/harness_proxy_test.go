package cases

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// proxy is a running penstock.
type proxy struct {
	t      testing.TB
	addr   string // where clients connect
	link   *link  // over TAP
	dir    string
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	api    api
	tidy   bool // everybody must have gone at the end
	calm   bool // it has no reason to log errors

	mu    sync.Mutex
	lines []string // its stderr
}

// start runs penstock until the test ends. Then all current counters must be
// 0, and it must end by itself with code 0.
func (s setup) start(t testing.TB) *proxy {
	t.Helper()
	suits(t)
	dir, err := os.MkdirTemp("", "case")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &proxy{t: t, dir: dir, exited: make(chan struct{}), tidy: true, calm: !s.grumbles}
	socket := filepath.Join(dir, "admin.sock")
	p.api = newAPI(t, socket)
	at := "unix:" + socket
	if s.admin != "" {
		at, p.tidy = s.admin, false // nothing else asks it
	}
	args := append(p.wired(s), "-admin", at, "-access-log", filepath.Join(dir, "access.log"))
	if !slices.Contains(s.flags, "-drain-time") {
		args = append(args, "-drain-time", "0s")
	}
	p.run(s.files, args)
	t.Cleanup(p.stop)
	p.addr = fields(p.awaitLine("listening"))["address"]
	return p
}

// wired returns the command line with all virtual servers on the device that
// clients use, if they use one.
func (p *proxy) wired(s setup) []string {
	p.t.Helper()
	args := s.args()
	if !*overTap {
		return args
	}
	if p.link = s.link; p.link == nil {
		p.link = newLink(p.t)
	}
	p.link.reach()
	for i := range args {
		args[i] = p.link.over(args[i])
	}
	return append(args, p.link.flags(s.tap)...)
}

// run starts the process; a shell lowers the limit of descriptors for it.
func (p *proxy) run(files int, args []string) {
	p.t.Helper()
	p.cmd = exec.Command(*binary, args...)
	if files > 0 {
		args = append([]string{"-c", `ulimit -n "$0"; exec "$@"`, itoa(files), *binary}, args...)
		p.cmd = exec.Command("/bin/sh", args...)
	}
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // it ends at once also with -race
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		p.read(stderr)
		p.cmd.Wait()
		close(p.exited)
	}()
}

func (p *proxy) read(r io.Reader) {
	for s := bufio.NewScanner(r); s.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, s.Text())
		p.mu.Unlock()
	}
}

func (p *proxy) pid() int { return p.cmd.Process.Pid }

// signal sends a signal by process id.
func (p *proxy) signal(s syscall.Signal) {
	if !p.gone() {
		unix.Kill(p.pid(), s)
	}
}

func (p *proxy) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop ends the process and looks at what it leaves.
func (p *proxy) stop() {
	if p.tidy && !p.t.Failed() && !p.gone() {
		p.awaitIdle()
	}
	p.signal(syscall.SIGTERM)
	if !happens(patience, p.gone) {
		p.t.Error("does not end after SIGTERM")
		p.signal(syscall.SIGQUIT) // shows what it is doing
		if !happens(patience, p.gone) {
			p.signal(syscall.SIGKILL)
			<-p.exited
		}
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("exit code %d", code)
	}
	p.api.close()
	text := p.stderr()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "DATA RACE") || strings.Contains(line, "panic:") || p.calm && strings.Contains(line, "level=ERROR") {
			p.t.Error("it complains: " + line)
		}
	}
	if p.t.Failed() {
		p.t.Logf("stderr of penstock:\n%s", tail(text, 6000))
		log, _ := os.ReadFile(filepath.Join(p.dir, "access.log"))
		p.t.Logf("end of its access log:\n%s", tail(string(log), 2000))
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// stderr returns all that it has said.
func (p *proxy) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// linesWith counts the lines that contain text.
func (p *proxy) linesWith(text string) (n int) {
	for line := range strings.Lines(p.stderr()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// awaitLine waits for a line that contains text, and returns it.
func (p *proxy) awaitLine(text string) (found string) {
	p.t.Helper()
	await(p.t, patience, "line "+text, func() bool {
		for line := range strings.Lines(p.stderr()) {
			if strings.Contains(line, text) {
				found = line
				return true
			}
		}
		if p.gone() {
			p.t.Fatalf("it ended:\n%s", p.stderr())
		}
		return false
	})
	return found
}

// lastLine returns the last line that contains text.
func (p *proxy) lastLine(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.lines) - 1; i >= 0; i-- {
		if strings.Contains(p.lines[i], text) {
			return p.lines[i]
		}
	}
	return ""
}

// fields takes a line of key=value apart. Values with spaces are quoted.
func fields(line string) map[string]string {
	m := map[string]string{}
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		key, rest, _ := strings.Cut(line, "=")
		value := ""
		if strings.HasPrefix(rest, `"`) {
			value, line, _ = strings.Cut(rest[1:], `"`)
		} else {
			value, line, _ = strings.Cut(rest, " ")
		}
		m[key] = value
	}
	return m
}

// check runs "penstock check" for a setup and returns what it prints.
func (s setup) check(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(*binary, append([]string{"check"}, s.args()...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("check: %v\n%s", err, out)
	}
	return string(out)
}
