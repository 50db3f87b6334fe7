package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock/lb/control/config"
)

// program runs the program with the given arguments in this process.
func program(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, env{stdout: &out, stderr: &errs, config: config.Env{}})
	return code, out.String(), errs.String()
}

func TestCommands(t *testing.T) {
	member := []string{"-listen", ":8080", "-member", "10.0.0.1:80,connection-limit=3"}
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string // must be contained
	}{
		{"help", []string{"help"}, 0, "-member", ""},
		{"help flag", []string{"-h"}, 0, "-member", ""},
		{"version", []string{"version"}, 0, "penstock ", ""},
		{"check", append([]string{"check"}, member...), 0, "10.0.0.1:80", ""},
		{"unknown command", []string{"serve"}, 2, "", `no command "serve"; allowed are run, check, ctl, top, version, help`},
		{"unknown key", []string{"check", "-listen", ":1", "-member", "10.0.0.1:80,colour=red"}, 2, "", "colour"},
		{"front without a device", append([]string{"check", "-virtual", "web,listen=:1,pool=default,front=tap"}, member...), 2, "", "front=tap"},
		{"nothing to do", []string{"run"}, 2, "", "-listen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := program(c.args...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) {
				t.Errorf("exit %d\nstdout: %s\nstderr: %s", code, out, errs)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	code, _, errs := program("check", "-listen", "nowhere", "-member", "10.0.0.1:80,connection-limit=-1",
		"-pool", "default,queue-time-limit=soon", "-loops", "x")
	if lines := strings.Split(strings.TrimSpace(errs), "\n"); code != 2 || len(lines) != 4 {
		t.Errorf("exit %d, want 2 and four lines:\n%s", code, errs)
	}
}

// running is the program on its own goroutine, with its log.
type running struct {
	signals chan os.Signal
	code    chan int
	log     *bufio.Scanner
	lines   []string
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	r, w := io.Pipe()
	p := &running{signals: make(chan os.Signal, 4), code: make(chan int, 1), log: bufio.NewScanner(r)}
	go func() {
		p.code <- run(args, env{stdout: w, stderr: w, signals: p.signals})
		w.Close()
	}()
	return p
}

// waitFor returns the submatches of the first line that matches, which may
// have been read already.
func (p *running) waitFor(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for i := 0; i < len(p.lines) || p.log.Scan(); i++ {
		if i == len(p.lines) {
			p.lines = append(p.lines, p.log.Text())
		}
		if m := re.FindStringSubmatch(p.lines[i]); m != nil {
			return m
		}
	}
	t.Fatalf("no line matches %s in:\n%s", pattern, strings.Join(p.lines, "\n"))
	return nil
}

// end sends a signal and drains the log until the program is over.
func (p *running) end(t *testing.T, s os.Signal) {
	t.Helper()
	p.signals <- s
	for p.log.Scan() {
	}
	select {
	case code := <-p.code:
		if code != exitOK {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(patience):
		t.Error("it does not end")
	}
}

func server(t *testing.T) (addr string) {
	t.Helper()
	return serverAt(t, "127.0.0.1:0")
}

func serverAt(t *testing.T, at string) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); fmt.Fprint(c, "hello"); io.Copy(io.Discard, c) }()
		}
	}()
	return ln.Addr().String()
}

func TestServesLogsAndDrains(t *testing.T) {
	p := start(t, "run", "-listen", "127.0.0.1:0", "-member", server(t)+",connection-limit=1",
		"-admin", "127.0.0.1:0", "-loops", "2", "-access-log", "stderr")
	admin := p.waitFor(t, `msg=admin address=(\S+)`)[1]
	addr := p.waitFor(t, `msg=listening .*address=(\S+)`)[1]
	first, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	expect(t, first, "hello")
	second, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	waitForDepth(t, admin, 1)
	first.Close()
	p.waitFor(t, `msg=conn .*position=0 left=- code=-- closer=client`)
	expect(t, second, "hello") // it was parked until the first left
	p.signals <- syscall.SIGHUP
	p.signals <- syscall.SIGTERM
	p.waitFor(t, `msg=draining`)
	second.Close()
	p.waitFor(t, `msg=conn .*position=1 left=served code=--`)
	p.waitFor(t, `msg=drained`)
	p.end(t, syscall.SIGHUP)
}

func TestSecondSignalLeavesNow(t *testing.T) {
	p := start(t, "run", "-listen", "127.0.0.1:0", "-member", server(t), "-admin", "off", "-access-log", "stderr")
	addr := p.waitFor(t, `msg=listening .*address=(\S+)`)[1]
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	expect(t, c, "hello")
	p.signals <- syscall.SIGTERM
	p.waitFor(t, `msg=draining`)
	p.signals <- syscall.SIGTERM
	p.waitFor(t, `code=DR closer=proxy`)
	p.end(t, syscall.SIGHUP)
}

func TestTakenAddressIsAnError(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	code, _, errs := program("run", "-listen", ln.Addr().String(), "-member", "127.0.0.1:1", "-admin", "off")
	if code != exitError || !strings.Contains(errs, ln.Addr().String()) {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Not at the usual addresses, where somebody may have a demo, nor at those of
// another run of this test.
func TestDemo(t *testing.T) {
	member := apart(91) + ":9101,connection-limit=2"
	p := start(t, "run", "-demo", "-listen", "127.0.0.1:0", "-member", member, "-admin", "off", "-access-log", "stderr")
	p.waitFor(t, `demo server`)
	p.end(t, syscall.SIGINT)
}

// waitForDepth asks the admin interface until the queue is that deep.
func waitForDepth(t *testing.T, admin string, depth int) {
	t.Helper()
	want := fmt.Sprintf("penstock_pool_connq_depth{pool=\"default\"} %d\n", depth)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		resp, err := http.Get("http://" + admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if strings.Contains(string(body), want) {
			return
		}
	}
	t.Fatalf("the queue is never %d deep", depth)
}

func expect(t testing.TB, c net.Conn, want string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("read %q, %v; want %q", b, err, want)
	}
}
