package top

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"penstock/lb/control/config"
)

// proxy answers as the recorded one did, while it is up.
type proxy struct {
	*httptest.Server
	down  atomic.Bool
	looks atomic.Int32
}

func play(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/v1/waiters" {
			p.looks.Add(1)
		}
		http.ServeFile(w, r, "testdata/after/"+strings.TrimPrefix(r.URL.Path, "/v1/")+".json")
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) address() string { return p.Listener.Addr().String() }

func program(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(args, strings.NewReader(""), &out, &errs, config.Env{})
	return code, out.String(), errs.String()
}

func TestOnce(t *testing.T) {
	p := play(t)
	t.Setenv("COLUMNS", "100")
	code, out, errs := program("-once", "-interval", "100ms", "-admin", p.address())
	if code != 0 || errs != "" || !strings.HasPrefix(out, "penstock top  "+p.address()) {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	if n := p.looks.Load(); n != 2 || strings.Count(out, "penstock top") != 1 {
		t.Errorf("%d looks, want 2 for one frame:\n%s", n, out)
	}
	if strings.Contains(out, "\x1b") || !strings.Contains(out, "127.0.0.1:50248") {
		t.Error(out)
	}
}

func TestMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"-x":                           "flag provided but not defined: -x; allowed flags are -admin",
		"now":                          `"now": allowed are flags only`,
		"-interval 5ms":                "-interval 5ms: allowed is 100ms or more",
		"-admin nowhere":               `-admin "nowhere": allowed is unix:PATH or IP:PORT`,
		"-once=perhaps -admin 1.2.3.4": "invalid boolean value",
	} {
		code, out, errs := program(strings.Fields(args)...)
		if code != 2 || out != "" || !strings.HasPrefix(errs, "penstock top: "+want) || !strings.HasSuffix(errs, "shows how it is used\n") {
			t.Errorf("%q: exit %d\n%s%s", args, code, out, errs)
		}
	}
	if code, out, errs := program("-h"); code != 0 || errs != "" || !strings.Contains(out, "-token-file FILE") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nobody := c.LocalAddr().String() // a connection's port: nobody listens there, nor will
	code, out, errs := program("-admin", nobody)
	if code != 1 || out != "" || !strings.HasPrefix(errs, "penstock top: no answer at "+nobody) {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// Without a terminal frames follow each other, also while the proxy is gone.
func TestPaper(t *testing.T) {
	p := play(t)
	r, pipe := io.Pipe()
	w := newWatch(clientOf(t, p), options{interval: shortestInterval})
	w.screen, w.signals = &paper{pipe}, make(chan os.Signal, 1)
	ended := make(chan error, 1)
	go func() { ended <- w.run() }()
	frames := make(chan string)
	go readFrames(r, frames)
	if f := <-frames; !strings.HasPrefix(f, "penstock top") || strings.Contains(f, "NO ANSWER") {
		t.Error(f)
	}
	p.down.Store(true)
	for f := range frames {
		if strings.Contains(f, "s: no answer at") && strings.Contains(f, "127.0.0.1:19201") {
			break
		}
	}
	p.down.Store(false)
	for f := range frames {
		if !strings.Contains(f, "NO ANSWER") {
			break
		}
	}
	go func() {
		for range frames {
		}
	}()
	w.signals <- ends[0]
	if err := <-ended; err != nil {
		t.Error(err)
	}
	pipe.Close()
}

// A look that panics takes the program with it, by way of who has the screen.
func TestPanicArrives(t *testing.T) {
	w := newWatch(clientOf(t, play(t)), options{interval: time.Second})
	w.look = func(context.Context, string, int) (*sample, error) { panic("at the disco") }
	w.screen, w.signals = &paper{io.Discard}, make(chan os.Signal)
	defer func() {
		if p, _ := recover().(string); !strings.Contains(p, "at the disco") || !strings.Contains(p, "run_test.go") {
			t.Errorf("panic: %s", p)
		}
	}()
	w.run()
	t.Error("it goes on")
}
