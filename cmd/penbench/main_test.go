package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/scenarios"
	"penstock/bench/stage"
)

// The test binary is penbench too, so that it can run itself as a client and a
// server.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// quick is a scenario of one's own, in a file.
func quick(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quick.bench")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const direct = `# why
about   a few connections
proxies none
rounds  1
let     flows=4
server  -then close
client  -work short -flows $flows -drain 1m
warm    10ms
for     500ms
metric  conn/s more
`

// A run prints its table and, last, where the page is; the figures are in a file.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := start(t.Context(), []string{"run", quick(t, direct), "-out", dir, "-rounds", "2", "-set", "flows=2"}, nil, &out, &errs)
	if code != 0 || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	page := filepath.Join(dir, "quick.html")
	if lines[len(lines)-1] != page || !strings.Contains(out.String(), "conn/s") {
		t.Error(out.String())
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("<html")) {
		t.Errorf("%v %.40s", err, html)
	}
	doc, err := result.Read(filepath.Join(dir, "quick.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := doc.Cases[0].Peer("none")
	if len(p.Rounds) != 2 || p.Rounds[0].Figures["conn/s"] <= 0 || !p.Verdict().Well() {
		t.Errorf("%+v", p)
	}
	if text := strings.Join(doc.Lines, "\n"); !strings.Contains(text, "-flows 2") || doc.Why != "why" {
		t.Errorf("%q %q", text, doc.Why)
	}
}

// A proxy that fails makes the run fail, with what it said.
func TestRunWithBrokenProxy(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "penstock")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho no such flag >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := start(t.Context(), []string{"run", quick(t, direct), "-out", t.TempDir(), "-proxy", "penstock", "-penstock", bad}, nil, &out, t.Output())
	if code != 1 || !strings.Contains(out.String(), "no such flag") {
		t.Errorf("exit %d: %s", code, &out)
	}
}

// A rival that is not there is left out, unless it was asked for.
func TestMissingRival(t *testing.T) {
	text := strings.Replace(direct, "proxies none", "proxies none haproxy", 1)
	var errs bytes.Buffer
	args := []string{"run", quick(t, text), "-out", t.TempDir(), "-haproxy", "/no/such"}
	if code := start(t.Context(), args, nil, io.Discard, &errs); code != 0 || !strings.Contains(errs.String(), "left out") {
		t.Errorf("exit %d: %s", code, &errs)
	}
	if code := start(t.Context(), append(args, "-proxy", "haproxy"), nil, io.Discard, &errs); code != 2 {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// A program prints the figures in place of servers and clients.
func TestRunOfProgram(t *testing.T) {
	dir := t.TempDir()
	text := "# why\nabout a\nrounds 1\ncase x waiting=1000\nprogram core -waiting $waiting -for 300ms\nmetric admissions/s more\n"
	code := start(t.Context(), []string{"run", quick(t, text), "-once", "-out", dir, "-penstock", "/bin/true"}, nil, io.Discard, t.Output())
	doc, err := result.Read(filepath.Join(dir, "quick.json"))
	if code != 0 || err != nil || doc.Cases[0].Peers[0].Rounds[0].Figures["admissions/s"] <= 0 {
		t.Errorf("exit %d: %v %+v", code, err, doc)
	}
}

// A Ctrl-C ends everybody, in good order.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	others := len(proc.Tree(os.Getpid()))
	go func() {
		for len(proc.Tree(os.Getpid())) < others+3 { // the stage's, a server, a client
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	var errs bytes.Buffer
	if code := start(ctx, []string{"run", quick(t, direct), "-for", "1h", "-out", t.TempDir()}, nil, io.Discard, &errs); code != 1 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit %d: %s", code, &errs)
	}
	if left := proc.Tree(os.Getpid()); len(left) != others {
		t.Errorf("still there: %v", left)
	}
}

// Killed outright, penbench can't end its children, nor they theirs, as a master
// its workers, nor delete its files. All that happens nevertheless.
func TestNobodyOutlivesTheProgram(t *testing.T) {
	master := filepath.Join(t.TempDir(), "penstock")
	if err := os.WriteFile(master, []byte("#!/bin/sh\n[ $1 = version ] && exit\nsleep 1000 & wait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	var family []int
	for try := 0; len(family) < 5; try++ {
		// A program that was just written can't be run while another process, just
		// forked, still has it open.
		if try == 5 {
			t.Fatal("it ended by itself")
		}
		family = killed(t, files, "run", quick(t, direct), "-for", "1h", "-out", t.TempDir(), "-proxy", "penstock", "-penstock", master)
	}
	for _, pid := range family[1:] {
		for alive(pid) {
			time.Sleep(time.Millisecond) // until the test's own limit
		}
	}
	if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// killed runs penbench until it has all its children, kills it, and returns all of
// them: itself, the stage's, a server, the master, its worker. Fewer if it ended by
// itself.
func killed(t *testing.T, files string, args ...string) (family []int) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+files)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for len(family) < 5 {
		select {
		case <-ended:
			return nil
		case <-time.After(time.Millisecond):
			family = proc.Tree(cmd.Process.Pid)
		}
	}
	cmd.Process.Kill()
	<-ended
	return family
}

// alive says that a process is there and is not waiting for its parent's wait.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func TestListAndShow(t *testing.T) {
	var out bytes.Buffer
	if code := start(t.Context(), []string{"list"}, nil, &out, t.Output()); code != 0 {
		t.Fatal("exit", code)
	}
	for _, name := range scenarios.Names() {
		if !strings.Contains(out.String(), name+" ") {
			t.Errorf("no %s in\n%s", name, &out)
		}
	}
	out.Reset()
	want, _ := scenarios.Text("short")
	if code := start(t.Context(), []string{"show", "short"}, nil, &out, t.Output()); code != 0 || out.String() != want {
		t.Errorf("exit %d: %s", code, &out)
	}
}

// Every mistake is told of, with what is allowed.
func TestMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"":                      "usage",
		"surver":                "usage",
		"client -nonsense":      "nonsense",
		"client extra":          "extra",
		"server extra":          "extra",
		"server -then explode":  "stay, close",
		"syn -work x":           "hold, short, keep or flood",
		"syn":                   "-device and -target",
		"list x":                `"x"`,
		"show":                  "short",
		"show none":             "short",
		"run":                   "short",
		"run none":              "short",
		"run short -proxy a":    "haproxy",
		"run short -rounds -1":  "-rounds -1",
		"run short -for -1s":    "-1s",
		"run short -for x":      "for",
		"run short -case x":     `"x"`,
		"run short -set x":      "VARIABLE=VALUE",
		"run short bulk-1 -o x": "-out",
		"run short -penstock /bin/true -o x -html ./x": "twice",
		"run short -penstock /bin/true -o /proc/no/x":  "/proc/no",
		"run /no/such/file.bench":                      "/no/such/file.bench",
		"run short -penstock /no/ps":                   "/no/ps",
	} {
		var errs bytes.Buffer
		if got := start(t.Context(), strings.Fields(args), nil, io.Discard, &errs); got != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("penbench %s: exit %d, %q", args, got, &errs)
		}
	}
	if code := start(t.Context(), []string{"run", "-h"}, nil, io.Discard, io.Discard); code != 0 {
		t.Error("-h: exit", code)
	}
}

// Where there can be no link between clients and proxy, "all" is all the others,
// and who is asked for by name is refused.
func TestWithoutLinks(t *testing.T) {
	all, err := scenarios.All()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	p := &playing{names: []string{"all"}}
	left, err := p.possible(all, new(stage.Stage), &errs)
	if err != nil || len(left) == 0 || len(left) == len(all) {
		t.Errorf("%d of %d are left: %v", len(left), len(all), err)
	}
	for _, s := range left {
		if strings.HasPrefix(s.Name, "syn") || strings.HasPrefix(s.Name, "tap") {
			t.Error(s.Name, "is left")
		}
	}
	if !strings.Contains(errs.String(), "needs root") || !strings.Contains(errs.String(), "tap-short is left out") {
		t.Error(errs.String())
	}
	p.names = []string{"tap-short"}
	if _, err := p.possible(all[len(all)-1:], new(stage.Stage), &errs); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Error(err)
	}
}

// The command of a document repeats its run alone, as a shell reads it.
func TestCommandRepeatsTheRun(t *testing.T) {
	for line, want := range map[string]string{
		"short -rounds 2 -out x":                 "penbench run short -rounds 2",
		"all -once":                              "penbench run short -once",
		"-for 1s my/own.bench -proxy none":       "penbench run my/own.bench -for 1s -proxy none",
		"short -set flows=3 -set text=it's -o f": `penbench run short -set flows=3 -set 'text=it'\''s'`,
		"short -penstock short":                  "penbench run short -penstock short",
	} {
		p := new(playing)
		fs := flag.NewFlagSet("run", flag.ContinueOnError)
		p.bind(fs)
		names, err := mixed(fs, strings.Fields(line), t.Output())
		if err != nil {
			t.Fatal(err)
		}
		p.program, p.names, p.words = "penbench", names, p.flags(fs)
		if got := p.command(0, "short"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
