package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testEnv has the files it is given, and root's defaults.
func testEnv(files map[string]string) Env {
	return Env{
		FileMode: func(string) (fs.FileMode, error) { return 0o600, nil },
		ReadFile: func(name string) ([]byte, error) {
			text, ok := files[name]
			if !ok {
				return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
			}
			return []byte(text), nil
		},
	}
}

func mustParse(t *testing.T, args ...string) *Config {
	t.Helper()
	c, err := Parse(args, testEnv(nil))
	if err != nil {
		t.Fatalf("Parse(%q): %v", args, err)
	}
	return c
}

func TestShorthand(t *testing.T) {
	c := mustParse(t, "-listen", ":8080", "--member=10.0.0.1:80,connection-limit=100", "-member", "[::1]:80")
	v := c.Virtuals[0]
	if v.Name != "default" || !v.Dual || v.Listen.Port() != 8080 || v.Listen.Addr().IsValid() || v.Pool != 0 {
		t.Errorf("virtual %+v", v)
	}
	p := c.Pools[0]
	if p.Name != "default" || !p.Queue || !p.DepthCapMembers || p.QueueTime != 10*time.Second || p.ReselectTries != 3 {
		t.Errorf("pool %+v", p)
	}
	if m := p.Members[1]; m.Address != netip.MustParseAddrPort("[::1]:80") || c.Nodes[m.Node].Address != m.Address.Addr() {
		t.Errorf("member %+v, nodes %+v", m, c.Nodes)
	}
	if c.Admin != "unix:/run/penstock/admin.sock" || c.DrainTime != 30*time.Second {
		t.Errorf("settings %+v", c)
	}
}

// A node is one address, however it was written, in all pools.
func TestNodeShared(t *testing.T) {
	c := mustParse(t, "-listen", ":1", "-pool", "b", "-node", "10.0.0.1,connection-limit=7",
		"-member", "10.0.0.1:80", "-member", "[::ffff:10.0.0.1]:80,pool=b")
	if len(c.Nodes) != 1 || c.Nodes[0].ConnectionLimit != 7 {
		t.Errorf("nodes %+v, want the given one only", c.Nodes)
	}
}

func TestOnlyPoolIsImplied(t *testing.T) {
	c := mustParse(t, "-virtual", "web,listen=:80", "-pool", "app")
	if c.Virtuals[0].Pool != 0 || c.Pools[0].Name != "app" {
		t.Errorf("%+v", c)
	}
}

func TestAdminDefault(t *testing.T) {
	long := "/" + strings.Repeat("x", 100)
	for _, tt := range []struct {
		env  Env
		want string
	}{
		{Env{}, "unix:/run/penstock/admin.sock"},
		{Env{UID: 1, RuntimeDir: "/run/user/1"}, "unix:/run/user/1/penstock/admin.sock"},
		{Env{UID: 1}, "off"},
		{Env{UID: 1, RuntimeDir: "relative"}, "off"},
		{Env{UID: 1, RuntimeDir: long}, "off"}, // no socket can have this path
	} {
		if got := tt.env.Admin(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, h := range []string{"-h", "--help", "-help"} {
		if _, err := Parse([]string{"-loops", "x", h}, Env{}); !errors.Is(err, ErrHelp) {
			t.Errorf("%s: %v, want ErrHelp", h, err)
		}
	}
}

// The command line wins over the file, object by object of both are kept.
func TestFlagFile(t *testing.T) {
	env := testEnv(map[string]string{"f": "# a story\n" +
		"-loops=2\r\n\n" +
		"log-level warn # quiet\n" +
		"--listen :80\n" +
		"member\t10.0.0.1:80,connection-limit=1\n" +
		"access-log /var/log/a#b\n" +
		"demo"})
	c, err := Parse([]string{"-member", "10.0.0.2:80", "-flagfile", "f", "-loops", "3", "-listen=:81"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.Loops != 3 || c.LogLevel != 4 || c.AccessLog != "/var/log/a#b" || !c.Demo || c.FlagFile != "f" {
		t.Errorf("settings %+v", c)
	}
	if len(c.Virtuals) != 1 || c.Virtuals[0].Listen.Port() != 81 || len(c.Pools[0].Members) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestReadFileIsBounded(t *testing.T) {
	if _, err := OS().ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("err %v, want one about the size", err)
	}
}

// A member's own ratio goes before its node's.
func TestRatio(t *testing.T) {
	c := mustParse(t, ok, "-node=10.0.0.1,ratio=5", "-member=10.0.0.1:1", "-member=10.0.0.1:2,ratio=3", "-member=10.0.0.2:1")
	for i, want := range []int{5, 3, 1} {
		if got := c.Ratio(&c.Pools[0].Members[i]); got != want {
			t.Errorf("member %d: ratio %d, want %d", i, got, want)
		}
	}
}

// The token file is looked at as it is on the disk.
func TestTokenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte("s3cret\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	args := []string{ok, "-admin=0.0.0.0:9000", "-admin-token-file=" + name}
	c, err := Parse(args, OS())
	if err != nil || c.AdminTokenFile != name || c.Admin != "0.0.0.0:9000" {
		t.Errorf("%v, %+v", err, c)
	}
	if err := os.Chmod(name, 0o604); err != nil {
		t.Fatal(err)
	}
	checkMistakes(t, args, OS(), []string{
		`-admin-token-file "` + name + `": mode 0604 lets everybody read or write it; allowed is a file of mode 0600 or 0640`,
	})
	// The command line takes back what a flag file says.
	env := testEnv(map[string]string{"f": "admin-token-file missing"})
	if c, err := Parse([]string{ok, "-flagfile=f", "-admin-token-file=off"}, env); err != nil || c.AdminTokenFile != "" {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestUsageFits(t *testing.T) {
	var b strings.Builder
	if err := Usage(&b); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if len(line) > usageWidth || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d has %d columns: %q", i+1, len(line), line)
		}
	}
	words := []string{"penstock [run]", "penstock check", "penstock version", "$XDG_RUNTIME_DIR"}
	for _, f := range flagNames {
		words = append(words, "-"+f)
	}
	for _, w := range words {
		if !strings.Contains(b.String(), w) {
			t.Errorf("%s is not mentioned", w)
		}
	}
}
