package admin

import (
	"net/http"
	"strings"
	"testing"
)

// A page of another site, open in the browser of somebody on this host, can
// neither read nor change anything.
func TestBrowsersKeptOut(t *testing.T) {
	_, c := serve(t, "127.0.0.1:0")
	for _, tt := range []struct {
		name, method, host string
		header             map[string]string
		want               int
	}{
		{"a program", "GET", "127.0.0.1:9000", nil, 200},
		{"a program, by name", "GET", "localhost:9000", nil, 200},
		{"a program, IPv6", "GET", "[::1]:9000", nil, 200},
		{"a program, no port", "GET", "[::1]", nil, 200},
		{"a foreign name that points here", "GET", "rebound.example:9000", nil, 421},
		{"a foreign name that looks like ours", "GET", "127.0.0.1.example", nil, 421},
		{"another site's form", "POST", "127.0.0.1:9000", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"another site's form, old browser", "POST", "127.0.0.1:9000", map[string]string{"Origin": "http://evil.example"}, 403},
		{"a program that wants to change something", "POST", "127.0.0.1:9000", nil, 405},
	} {
		r := request(t, tt.method, "http://127.0.0.1/v1/pools")
		r.Host = tt.host
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		w, body := ask(t, c, r)
		if w.StatusCode != tt.want {
			t.Errorf("%s: %s, want %d: %s", tt.name, w.Status, tt.want, body)
		}
		for _, h := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control"} {
			if w.Header.Get(h) == "" {
				t.Errorf("%s: no %s", tt.name, h)
			}
		}
		if w.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: opened to other sites", tt.name)
		}
		if got := w.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// On a Unix socket any name will do: no browser gets there.
func TestUnixAnyHost(t *testing.T) {
	_, c := serve(t, "unix:"+t.TempDir()+"/s")
	if w, body := ask(t, c, request(t, "GET", "http://penstock/v1/pools")); w.StatusCode != 200 {
		t.Errorf("%s: %s", w.Status, body)
	}
}

func TestHeadersBounded(t *testing.T) {
	_, c := serve(t, "127.0.0.1:0")
	r := request(t, "GET", "http://127.0.0.1/healthz")
	r.Header.Set("X", strings.Repeat("x", 2*headerSize))
	if w, _ := ask(t, c, r); w.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(w.Status)
	}
}

func TestHead(t *testing.T) {
	_, c := serve(t, "127.0.0.1:0")
	if w, body := ask(t, c, request(t, "HEAD", "http://127.0.0.1/v1/pools")); w.StatusCode != 200 || body != "" {
		t.Errorf("%s: %q", w.Status, body)
	}
}
