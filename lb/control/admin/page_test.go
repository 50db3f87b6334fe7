package admin

import (
	"net/http"
	"strings"
	"testing"
)

// Everybody who may ask gets the page, before the token and by a link: its
// script has to be there to ask for the one, and what it shows is guarded.
func TestPage(t *testing.T) {
	for _, token := range []string{"", oneWord} {
		c := Config{Address: "127.0.0.1:0", Log: quiet}
		if token != "" {
			c.TokenFile = secret(t, token)
		}
		_, client := serveAs(t, c)
		for _, site := range []string{"", "none", "cross-site"} {
			r := request(t, "GET", "http://127.0.0.1/")
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
			w, body := ask(t, client, r)
			policy := w.Header.Get("Content-Security-Policy")
			if w.StatusCode != 200 || !strings.HasPrefix(body, "<!doctype html>") ||
				!strings.Contains(policy, "script-src 'sha256-") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("token %q, %s: %s, %v", token, site, w.Status, w.Header)
			}
			if w.Close != (token != "") {
				t.Errorf("token %q: a stranger keeps a connection: %v", token, !w.Close)
			}
		}
		head := request(t, "HEAD", "http://127.0.0.1/")
		if w, body := ask(t, client, head); w.StatusCode != 200 || body != "" {
			t.Errorf("token %q: %s: %q", token, w.Status, body)
		}
		post := request(t, "POST", "http://127.0.0.1/")
		post.Header.Set("Authorization", "Bearer "+oneWord)
		if w, _ := ask(t, client, post); w.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("token %q: %s", token, w.Status)
		}
	}
	_, client := serve(t, "127.0.0.1:0")
	r := request(t, "GET", "http://127.0.0.1/")
	r.Host = "rebound.example"
	if w, _ := ask(t, client, r); w.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a foreign name: %s", w.Status)
	}
}
