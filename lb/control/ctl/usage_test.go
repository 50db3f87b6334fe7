package ctl

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/lb/control/config"
)

// program runs ctl as the command line does.
func program(env config.Env, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(args, &out, &errs, env)
	return code, out.String(), errs.String()
}

// Mistakes in the command line are told before anybody is asked.
func TestMisuse(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "no command; allowed are show, set, add, delete, enable, disable, offline, pause, resume, flush, help"},
		{"shw", `no command "shw"`},
		{"help shw", `no command "shw"`},
		{"-x show", "flag provided but not defined: -x; allowed flags are"},
		{"show -o yaml", `-o "yaml": allowed is text|json`},
		{"show -o", "flag needs an argument: -o"},
		{"show things", `"things": allowed is virtuals|pools|members|nodes|waiters|tap|all`},
		{"show all app", `"app": allowed is nothing behind all`},
		{"show pools app mx", `"mx": allowed is one NAME`},
		{"show members 10.0.0.1:80", `member "10.0.0.1:80": allowed is POOL/ADDRESS, such as app/10.0.0.1:80`},
		{"show waiters app", `"app": allowed is KEY=VALUE`},
		{"set", "an object is missing: allowed is pool|virtual|member|node"},
		{"set thing app x=1", "thing: allowed is pool|virtual|member|node"},
		{"set pool", "pool: its name is missing"},
		{"set pool app", "nothing to set; allowed is KEY=VALUE"},
		{"set pool app queue", `"queue": allowed is KEY=VALUE`},
		{"set pool app =5", `"=5": allowed is KEY=VALUE`},
		{"set pool app a=1 a=2", `"a=2": key given twice`},
		{"set member app x=1", `member "app": allowed is POOL/ADDRESS`},
		{"add pool app", "pool: allowed is member"},
		{"add member /10.0.0.1:80", `member "/10.0.0.1:80": allowed is POOL/ADDRESS`},
		{"delete member app/10.0.0.1:80 later", `"later": allowed is now`},
		{"enable pool app", "pool: allowed is member|node"},
		{"enable node 10.0.0.1 now", `"now": allowed is nothing behind the name`},
		{"pause member app/10.0.0.1:80", "member: allowed is pool"},
		{"pause pool app now", `"now": allowed is nothing behind the name`},
		{"flush pool app all", `"all": allowed is KEY=VALUE`},
		{"-admin nowhere show", `-admin "nowhere": allowed is unix:PATH or IP:PORT`},
	} {
		code, out, errs := program(config.Env{}, strings.Fields(tt.args)...)
		if code != 2 || out != "" || !strings.HasPrefix(errs, "penstock ctl: "+tt.want) {
			t.Errorf("%q: exit %d\nstdout: %s\nstderr: %s\nwant %s", tt.args, code, out, errs, tt.want)
		}
	}
}

// Who makes a mistake in a command is shown how that one is used.
func TestMisuseShowsUsage(t *testing.T) {
	_, _, errs := program(config.Env{}, "pause", "pool")
	if !strings.HasSuffix(errs, "usage:\n  penstock ctl pause pool NAME\n") {
		t.Error(errs)
	}
}

// Every command has help, and all ways to it lead there.
func TestHelp(t *testing.T) {
	for i := range commands {
		c := &commands[i]
		code, out, errs := program(config.Env{}, "help", c.name)
		if code != 0 || errs != "" || !strings.HasPrefix(out, "  penstock ctl "+c.name+" ") || len(out) < 45 {
			t.Errorf("help %s: exit %d\n%s%s", c.name, code, out, errs)
		}
		for _, args := range [][]string{{c.name, "-h"}, {"-h", c.name}, {c.name, "--help", "x"}} {
			if _, same, _ := program(config.Env{}, args...); same != out {
				t.Errorf("%v:\n%s", args, same)
			}
		}
	}
	for _, args := range []string{"help", "-h", "--help"} {
		code, out, errs := program(config.Env{}, args)
		if code != 0 || errs != "" || !strings.Contains(out, "ctl set pool|virtual NAME") || !strings.Contains(out, "-token-file") {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, errs)
		}
		for line := range strings.Lines(out) {
			if len(line) > 81 {
				t.Errorf("%s: longer than a terminal is wide: %s", args, line)
			}
		}
	}
}

// Without -admin it looks where the proxy listens by default.
func TestDefaultAddress(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		env  config.Env
		want string
	}{
		{config.Env{UID: 1000, RuntimeDir: dir}, "penstock ctl: no answer at unix:" + dir + "/penstock/admin.sock: dial unix "},
		{config.Env{UID: 1000}, "penstock ctl: there is no default admin interface here"},
	} {
		code, out, errs := program(tt.env, "show")
		if code != 1 || out != "" || !strings.HasPrefix(errs, tt.want) {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
}

// server plays a proxy that answers everything in one way.
func server(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// nobody is an address where nobody listens, nor will: its port is a connection's.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

func TestUnreachable(t *testing.T) {
	addr := nobody(t)
	code, _, errs := program(config.Env{}, "-admin", addr, "show")
	if code != 1 || !strings.Contains(errs, "no answer at "+addr+": dial tcp") || !strings.Contains(errs, "is the proxy running") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Something else listens there.
func TestNonsense(t *testing.T) {
	for _, body := range []string{"", "hello", "[]", `{"pools":[{"name":5}]}`} {
		addr := server(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		code, out, errs := program(config.Env{}, "-admin", addr, "show", "pools")
		if code != 1 || out != "" || !strings.Contains(errs, addr+" does not answer as a proxy does") {
			t.Errorf("%q: exit %d: %s%s", body, code, out, errs)
		}
	}
	addr := server(t, http.NotFound)
	if code, _, errs := program(config.Env{}, "-admin", addr, "show"); code != 1 || !strings.Contains(errs, addr+": 404 Not Found") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A name from a proxy that is not what it seems can't steer the terminal.
func TestTerminalSafe(t *testing.T) {
	addr := server(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"nodes":[{"address":"\u001b[2Jx\u009b\n","settings":{},"members":["\u202e"]}]}`)
	})
	_, out, _ := program(config.Env{}, "-admin", addr, "show", "nodes")
	if strings.ContainsAny(out, "\x1b\u009b\u202e") || strings.Count(out, "\n") != 2 {
		t.Errorf("%q", out)
	}
}

func TestToken(t *testing.T) {
	addr := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer open-sesame-open" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error": "a token is needed"}`)
			return
		}
		io.WriteString(w, `{"nodes":[]}`)
	})
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("open-sesame-open\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := program(config.OS(), "-admin", addr, "-token-file", file, "show", "nodes")
	if code != 0 || !strings.HasPrefix(out, "NODE ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, _, errs = program(config.OS(), "-admin", addr, "show", "nodes")
	if code != 1 || !strings.Contains(errs, "a token is needed") || !strings.Contains(errs, "-token-file") {
		t.Errorf("exit %d: %s", code, errs)
	}
	code, _, errs = program(config.OS(), "-admin", addr, "-token-file", file+"x", "show", "nodes")
	if code != 1 || !strings.Contains(errs, "-token-file: open ") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestFormats(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1.00k", 12345: "12.3k", 999499: "999k", 999500: "1.00M", 123456789: "123M", 1 << 62: "4.61E",
	} {
		if got := size(n); got != want {
			t.Errorf("size of %d: %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[float64]string{
		0: "0", 0.25: "0.25ms", 12.34: "12.3ms", 250: "250ms", 1500: "1.50s", 59990: "60.0s", 61000: "1m1s", 1e300: "1281023h53m38s",
	} {
		if got := span(ms); got != want {
			t.Errorf("span of %v: %s, want %s", ms, got, want)
		}
	}
}
