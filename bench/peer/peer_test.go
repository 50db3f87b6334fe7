package peer

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// penstockPath is where peerOrBuild puts penstock, once built.
var (
	penstockPath string
	built        sync.Once
)

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		panic(err)
	}
	penstockPath = filepath.Join(dir, "penstock")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// programs stands in for what may not be installed: who writes files doesn't
// run it.
var programs = map[string]Peer{
	"penstock":       penstock{"/bin/penstock"},
	"haproxy":        haproxy{"/sbin/haproxy", ways[0]},
	"haproxy-splice": haproxy{"/sbin/haproxy", ways[1]},
	"haproxy-copy":   haproxy{"/sbin/haproxy", ways[2]},
}

// lines are some of a scenario, for each program.
var lines = map[string][]string{
	"penstock": {"-pool default,queue-time-limit=1s,queue-fair=source/24", "-max-connections 900"},
	"haproxy":  {"defaults timeout queue 1s", "global tune.bufsize 32768", "listen backlog 100", "server weight 2"},
	"nginx":    {"main worker_priority 0", "events multi_accept on;", "stream tcp_nodelay on", "upstream least_conn", "server proxy_buffer_size 32k", "member weight=2"},
}

func setup(dir, program string) Setup {
	return Setup{
		Dir: dir, Listen: netip.MustParseAddrPort("127.0.0.1:8080"), Connections: 500, Loops: 3,
		Members: []Member{{netip.MustParseAddrPort("127.0.0.1:9001"), 8}, {netip.MustParseAddrPort("127.0.0.1:9002"), 0}},
		More:    lines[program],
	}
}

// TestFiles compares what is written with testdata/NAME.
func TestFiles(t *testing.T) {
	for name, p := range programs {
		program, _, _ := strings.Cut(name, "-")
		dir := t.TempDir()
		argv, err := p.Command(setup(dir, program))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, strings.Join(argv, " ")+"\n"+contents(t, dir), dir)
	}
}

// TestNginxFile is apart since nginx is asked where its modules are.
func TestNginxFile(t *testing.T) {
	p, dir := find(t, "nginx"), t.TempDir()
	argv, err := p.Command(setup(dir, "nginx"))
	if err != nil {
		t.Skip(err)
	}
	text := contents(t, dir)
	if module, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(module, "load_module ") {
		text = rest
	}
	compare(t, "nginx", "nginx "+strings.Join(argv[1:], " ")+"\n"+text, dir)
}

// contents is the one file in a folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("one file was to be written: %v %v", entries, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compare(t *testing.T, name, got, dir string) {
	t.Helper()
	got = strings.ReplaceAll(got, dir, "DIR")
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got != string(want) {
		t.Errorf("%s (go test -rewrite makes it anew): %v\n%s", file, err, got)
	}
}

// find skips the test if the program is not on this machine.
func find(t *testing.T, name string) Peer {
	t.Helper()
	p, err := Find(name, Paths{})
	if err != nil {
		t.Skip(err)
	}
	return p
}

// TestAccepted asks each program whether it takes what is written for it.
func TestAccepted(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			p, program := peerOrBuild(t, name), strings.Split(name, "-")[0]
			for _, limits := range []Setup{setup(t.TempDir(), program), setup(t.TempDir(), "")} {
				accepted(t, p, limits)
			}
		})
	}
}

func accepted(t *testing.T, p Peer, s Setup) {
	t.Helper()
	if _, err := p.Command(s); errors.Is(err, ErrMissing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	argv := p.Check(s)
	if argv == nil {
		return
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", argv, err, out)
	}
}

// peerOrBuild finds a peer, and builds this repository's own.
func peerOrBuild(t *testing.T, name string) Peer {
	t.Helper()
	if name != "penstock" {
		return find(t, name)
	}
	built.Do(func() {
		if out, err := exec.Command("go", "build", "-o", penstockPath, "penstock/cmd/penstock").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	p, err := Find(name, Paths{Penstock: penstockPath})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReloadsRunAsMaster(t *testing.T) {
	s := setup(t.TempDir(), "haproxy")
	s.Reloads = true
	argv, err := programs["haproxy"].Command(s)
	if err != nil || !slices.Contains(argv, "-W") || slices.Contains(argv, "-db") {
		t.Errorf("%q %v: a reload needs a master (-W)", argv, err)
	}
}

func TestLinesThatAreWrong(t *testing.T) {
	for _, c := range []struct{ program, line, want string }{
		{"penstock", "queue-fair=source", `penstock "queue-fair=source": must be a flag and its value`},
		{"haproxy", "backend timeout queue 1s", `haproxy "backend timeout queue 1s": must begin with one of global, defaults, listen, server, and go on with a line for it`},
		{"haproxy", "defaults", `haproxy "defaults": must begin with one of global, defaults, listen, server, and go on with a line for it`},
		{"nginx", "http x", `nginx "http x": must begin with one of main, events, stream, upstream, server, member, and go on with a line for it`},
	} {
		p := programs[c.program]
		if c.program == "nginx" {
			p = nginx{"/sbin/nginx"}
		}
		s := setup(t.TempDir(), "")
		s.More = []string{c.line}
		if _, err := p.Command(s); err == nil || err.Error() != c.want {
			t.Errorf("%s %q: %v\nwant %s", c.program, c.line, err, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	if _, err := Find("envoy", Paths{}); err == nil || err.Error() != `proxy "envoy" is not one of penstock, haproxy, haproxy-splice, haproxy-copy, nginx, none` {
		t.Error(err)
	}
	missing := filepath.Join(t.TempDir(), "haproxy")
	if _, err := Find("haproxy-copy", Paths{HAProxy: missing}); !errors.Is(err, ErrMissing) {
		t.Errorf("a program that is not there: %v", err)
	}
	p, err := Find("none", Paths{})
	if err != nil {
		t.Fatal(err)
	}
	if argv, err := p.Command(Setup{}); argv != nil || err != nil {
		t.Errorf("none: %q %v", argv, err)
	}
}

func TestReloadTellsNobodyElse(t *testing.T) {
	for name, p := range programs {
		if err := p.Reload(setup(t.TempDir(), ""), 0); err == nil {
			t.Errorf("%s: a signal to process 0 would go to everybody", name)
		}
	}
}
