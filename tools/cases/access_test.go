package cases

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const token = "a-token-of-this-test-0123456789"

// The admin socket is for its owner only.
func TestAdminSocketIsPrivate(t *testing.T) {
	t.Parallel()
	p := setup{}.start(t)
	i, err := os.Stat(filepath.Join(p.dir, "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := i.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %o; want 600", mode)
	}
}

// An address that others can reach needs a token in a file of one's own.
func TestAdminNeedsToken(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(open, []byte(token), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"no token":        {"-admin", "0.0.0.0:0"},
		"a file for all":  {"-admin", "0.0.0.0:0", "-admin-token-file", open},
		"a file not here": {"-admin", "0.0.0.0:0", "-admin-token-file", open + "~"},
	} {
		out, err := exec.Command(*binary, append(setup{}.args(), args...)...).CombinedOutput()
		if code := exitCode(err); code != 2 || !strings.Contains(string(out), "admin-token-file") {
			t.Errorf("%s: exit %d with\n%s", name, code, out)
		}
	}
}

func exitCode(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return 0
}

// overTCP starts a proxy whose admin interface listens on a TCP address, and
// returns its URL.
func overTCP(t *testing.T, host string, flags ...string) (p *proxy, address string) {
	t.Helper()
	p = setup{flags: flags, admin: host + ":0"}.start(t)
	_, port, err := net.SplitHostPort(fields(p.awaitLine("msg=admin"))["address"])
	if err != nil {
		t.Fatal(err)
	}
	return p, net.JoinHostPort("127.0.0.1", port)
}

// asked returns the status of a request.
func asked(t *testing.T, method, url string, headers ...string) int {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	return w.StatusCode
}

// Only who shows the token may ask, for anything.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, address := overTCP(t, "0.0.0.0", "-admin-token-file", file)
	for _, path := range []string{"/metrics", "/v1/pools", "/v1/waiters", "/nothing"} {
		for _, wrong := range []string{"", "Bearer", "Bearer " + token + "0", "Bearer " + token[1:], "Basic " + token, token} {
			if code := asked(t, "GET", "http://"+address+path, "Authorization", wrong); code != http.StatusUnauthorized {
				t.Errorf("GET %s with %q: %d; want 401", path, wrong, code)
			}
		}
	}
	if code := asked(t, "POST", "http://"+address+"/v1/pools/p/pause"); code != http.StatusUnauthorized {
		t.Errorf("POST: %d; want 401", code)
	}
	if code := asked(t, "GET", "http://"+address+"/v1/pools/p", "Authorization", "Bearer "+token); code != http.StatusOK {
		t.Errorf("with the token: %d", code)
	}
	say := func(args ...string) (string, error) {
		out, err := exec.Command(*binary, append([]string{"ctl", "-admin", address}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := say("show", "pools"); exitCode(err) != 1 {
		t.Errorf("ctl without the token: %v\n%s", err, out)
	}
	if out, err := say("-token-file", file, "show", "pools"); err != nil || !strings.Contains(out, "p ") {
		t.Errorf("ctl with the token: %v\n%s", err, out)
	}
	if text := p.stderr(); strings.Contains(text, token) {
		t.Error("the token is in the log")
	}
}

// A page of another site that a browser shows can't change anything, nor ask,
// nor reach the interface by a name of its own.
func TestAdminCrossSite(t *testing.T) {
	t.Parallel()
	_, address := overTCP(t, "127.0.0.1")
	url := "http://" + address + "/v1/pools/p"
	for _, c := range []struct {
		method  string
		headers []string
		code    int
	}{
		{"PATCH", nil, http.StatusOK},
		{"GET", []string{"Origin", "http://" + address}, http.StatusOK},
		{"PATCH", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{"PATCH", []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{"PATCH", []string{"Origin", "null"}, http.StatusForbidden},
		{"PATCH", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"GET", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"GET", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		{"PATCH", []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
	} {
		if code := asked(t, c.method, url, c.headers...); code != c.code {
			t.Errorf("%s with %v: %d; want %d", c.method, c.headers, code, c.code)
		}
	}
}
