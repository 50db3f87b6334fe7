package admin

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

var quiet = slog.New(slog.DiscardHandler)

// bare is a View, and a Control, of a proxy that does nothing.
type bare struct {
	View
	Control
}

func (bare) Config() *config.Config { return &config.Config{} }
func (bare) Draining() bool         { return false }
func (bare) Now() dispatch.Tick     { return 0 }

// serve starts a server and returns a client of it.
func serve(t *testing.T, address string) (*Server, *http.Client) {
	t.Helper()
	return serveAs(t, Config{Address: address, Log: quiet})
}

func serveAs(t *testing.T, c Config) (*Server, *http.Client) {
	t.Helper()
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(bare{}, bare{}) }()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, s.Addr().Network(), s.Addr().String())
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func ask(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	w, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w, string(b)
}

func request(t *testing.T, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func healthy(t *testing.T, c *http.Client) {
	t.Helper()
	if w, body := ask(t, c, request(t, "GET", "http://127.0.0.1/healthz")); w.StatusCode != 200 || body != "ok\n" {
		t.Errorf("%s: %s", w.Status, body)
	}
}

// The socket is its owner's alone, whatever the umask; its folder is made;
// and it goes when the server does.
func TestUnix(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "run", "penstock", "admin.sock")
	s, c := serve(t, "unix:"+path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	healthy(t, c)
	s.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
}

// A process that died leaves its socket behind.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	_, c := serve(t, "unix:"+path)
	healthy(t, c)
}

// Two processes do not fight for one socket: the second one says so, and the
// first goes on.
func TestLiveSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	_, c := serve(t, "unix:"+path)
	_, err := Open(Config{Address: "unix:" + path, Log: quiet})
	if err == nil || !strings.Contains(err.Error(), "another process serves it") || !strings.Contains(err.Error(), "-admin") {
		t.Errorf("%v", err)
	}
	healthy(t, c)
}

// Only a socket is ever removed.
func TestNoSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Address: "unix:" + path, Log: quiet}); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("%v", err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Address: "unix:" + link, Log: quiet}); err == nil {
		t.Error("a link was taken for a socket")
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if _, err := Open(Config{Address: "unix:" + filepath.Join(path, "admin.sock"), Log: quiet}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestTCP(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // no IPv6 here
			continue
		}
		ln.Close()
		_, c := serve(t, address)
		healthy(t, c)
	}
}

// Nobody else may ask: there is no password yet.
func TestLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "10.0.0.1:9000", "[::ffff:10.0.0.1]:9000", ":9000", "localhost:0", ""} {
		s, err := Open(Config{Address: address, Log: quiet})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "loopback") || !strings.Contains(err.Error(), "-admin") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// With a token other addresses are allowed, in the form they have to have.
func TestGuardedAddress(t *testing.T) {
	file := secret(t, oneWord)
	for address, ok := range map[string]bool{"0.0.0.0:0": true, "localhost:0": false, ":0": false, "": false} {
		s, err := Open(Config{Address: address, TokenFile: file, Log: quiet})
		if err == nil {
			s.Close()
		}
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestTaken(t *testing.T) {
	s, _ := serve(t, "127.0.0.1:0")
	if _, err := Open(Config{Address: s.Addr().String(), Log: quiet}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("%v", err)
	}
}

// A program that fails between Listen and Serve leaves nothing behind.
func TestCloseUnserved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	s, err := Open(Config{Address: "unix:" + path, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
	if err := s.Serve(bare{}, bare{}); err != nil {
		t.Errorf("Serve after Close: %v", err)
	}
}
