package admin

import (
	"net/http"
	"os"
	"path/filepath"
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
		{"a link on another site", "GET", "127.0.0.1:9000", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"another port of this host", "GET", "localhost:9000", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"an image on another site, old browser", "GET", "127.0.0.1:9000", map[string]string{"Origin": "http://evil.example"}, 403},
		{"a page of ours", "GET", "127.0.0.1:9000", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		{"a page of ours, old browser", "GET", "127.0.0.1:9000", map[string]string{"Origin": "http://127.0.0.1:9000"}, 200},
		{"an address that was typed", "GET", "127.0.0.1:9000", map[string]string{"Sec-Fetch-Site": "none"}, 200},
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

// secret is a token file, and what is in it.
func secret(t *testing.T, word string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(word+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	oneWord     = "0123456789abcdef"
	anotherWord = "0123456789abcdeF"
)

// Over TCP nobody does anything without the token, and learns nothing.
func TestToken(t *testing.T) {
	_, c := serveAs(t, Config{Address: "127.0.0.1:0", TokenFile: secret(t, oneWord), Log: quiet})
	for _, tt := range []struct {
		name, header string
		want         int
	}{
		{"none", "", 401},
		{"it", "Bearer " + oneWord, 200},
		{"it, in another case", "bearer " + oneWord, 200},
		{"another", "Bearer " + anotherWord, 401},
		{"a part", "Bearer " + oneWord[:15], 401},
		{"more", "Bearer " + oneWord + "0", 401},
		{"nothing", "Bearer", 401},
		{"another scheme", "Basic " + oneWord, 401},
		{"bare", oneWord, 401},
	} {
		for _, path := range []string{"/v1/pools", "/healthz", "/metrics", "/none"} {
			r := request(t, "GET", "http://127.0.0.1"+path)
			r.Host = "lb.example:9000" // who knows the token is no rebound page
			if tt.header != "" {
				r.Header.Set("Authorization", tt.header)
			}
			w, body := ask(t, c, r)
			known := tt.want == 200 && path == "/none" && w.StatusCode == 404
			if w.StatusCode != tt.want && !known && path != "/metrics" {
				t.Errorf("%s, %s: %s, want %d: %s", tt.name, path, w.Status, tt.want, body)
			}
			if tt.want == 401 && (body != "{\n  \"error\": \"a token is needed\"\n}\n" ||
				w.Header.Get("WWW-Authenticate") != `Bearer realm="penstock"` || !w.Close) {
				t.Errorf("%s, %s: %v %s", tt.name, path, w.Header, body)
			}
		}
	}
}

// A token does not let other sites in.
func TestTokenAndBrowser(t *testing.T) {
	_, c := serveAs(t, Config{Address: "127.0.0.1:0", TokenFile: secret(t, oneWord), Log: quiet})
	r := request(t, "GET", "http://127.0.0.1/v1/pools")
	r.Header.Set("Authorization", "Bearer "+oneWord)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if w, body := ask(t, c, r); w.StatusCode != 403 {
		t.Errorf("%s: %s", w.Status, body)
	}
}

// On a Unix socket the token is not asked for: the file's mode keeps others
// out.
func TestUnixNoToken(t *testing.T) {
	_, c := serveAs(t, Config{Address: "unix:" + t.TempDir() + "/s", TokenFile: secret(t, oneWord), Log: quiet})
	if w, body := ask(t, c, request(t, "GET", "http://penstock/v1/pools")); w.StatusCode != 200 {
		t.Errorf("%s: %s", w.Status, body)
	}
}

// The file is read again when it is said so; a bad one changes nothing.
func TestTokenChanges(t *testing.T) {
	file := secret(t, oneWord)
	s, c := serveAs(t, Config{Address: "127.0.0.1:0", TokenFile: file, Log: quiet})
	expect := func(when, word string, want int) {
		t.Helper()
		r := request(t, "GET", "http://127.0.0.1/v1/pools")
		r.Header.Set("Authorization", "Bearer "+word)
		if w, _ := ask(t, c, r); w.StatusCode != want {
			t.Errorf("%s: %s, want %d", when, w.Status, want)
		}
	}
	if err := os.WriteFile(file, []byte(anotherWord), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("written, not read", oneWord, 200)
	if err := s.ReloadToken(); err != nil {
		t.Error(err)
	}
	expect("read", oneWord, 401)
	expect("read", anotherWord, 200)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.ReloadToken(); err == nil || !strings.Contains(err.Error(), "-admin-token-file: open") {
		t.Errorf("%v", err)
	}
	expect("removed", anotherWord, 200)
}

// A token that can be guessed, or a wrong file, is noticed at the start.
func TestTokenFile(t *testing.T) {
	for _, word := range []string{"", "short", "two words of one line", strings.Repeat("x", mostToken+1), "\x00\x01\x02\x03aaaaaaaaaaaa"} {
		s, err := Open(Config{Address: "127.0.0.1:0", TokenFile: secret(t, word), Log: quiet})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "allowed is one token of 16 to 1024") {
			t.Errorf("%.20q: %v", word, err)
		}
	}
	if _, err := Open(Config{Address: "127.0.0.1:0", TokenFile: t.TempDir(), Log: quiet}); err == nil {
		t.Error("a folder is no token")
	}
}
