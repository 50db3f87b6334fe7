package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func get(t *testing.T, method string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(method, "/", nil))
	return w.Result()
}

func TestHeaders(t *testing.T) {
	for _, method := range []string{"GET", "HEAD"} {
		r := get(t, method)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", method, r.Status)
		}
		for key, want := range map[string]string{
			"Content-Type":           "text/html; charset=utf-8",
			"Content-Length":         strconv.Itoa(len(page.html)),
			"Cache-Control":          "no-store",
			"Referrer-Policy":        "no-referrer",
			"X-Content-Type-Options": "nosniff",
		} {
			if got := r.Header.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", method, key, got, want)
			}
		}
	}
	r := get(t, "POST")
	if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %s, allowed is %q", r.Status, r.Header.Get("Allow"))
	}
}

var inline = regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)

// The policy allows what the document has, and nothing besides.
func TestPolicy(t *testing.T) {
	allowed := map[string]string{}
	for _, d := range strings.Split(get(t, "GET").Header.Get("Content-Security-Policy"), "; ") {
		name, value, _ := strings.Cut(d, " ")
		allowed[name] = value
	}
	want := map[string]string{
		"default-src": "'none'", "connect-src": "'self'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
		"frame-ancestors": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'",
	}
	found := inline.FindAllSubmatch(page.html, -1)
	if len(found) != 2 {
		t.Fatalf("%d style and script elements, want one of each", len(found))
	}
	for _, m := range found {
		want[string(m[1])+"-src"] = hash(m[2])
	}
	for name, value := range want {
		if allowed[name] != value {
			t.Errorf("%s is %q, want %q", name, allowed[name], value)
		}
	}
	if len(allowed) != len(want) {
		t.Errorf("allowed is %v", allowed)
	}
}

// The page works without a network, and puts nothing in but text.
func TestSelfContained(t *testing.T) {
	html := strings.NewReplacer("http://www.w3.org/2000/svg", "", `href="data:`, "").Replace(string(page.html))
	for what, pattern := range map[string]string{
		"an address elsewhere":    `(?i)\w+://|["'(]//\w`,
		"something to load":       `(?i)<(img|iframe|object|embed|video|audio|source|base)\b|\ssrc=|@import|\burl\(`,
		"a link away":             `(?i)\shref="[^#]`,
		"a style out of policy":   `(?i)<[^>]+\sstyle=`,
		"a handler out of policy": `(?i)<[^>]+\son\w+=`,
		"text taken for HTML":     `innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML`,
		"text taken for script":   `\beval\(|new Function|javascript:|import\(`,
		"a lasting trace":         `localStorage|document\.cookie|indexedDB`,
	} {
		if m := regexp.MustCompile(pattern).FindString(html); m != "" {
			t.Errorf("%s: %s", what, m)
		}
	}
	for _, m := range inline.FindAllStringSubmatch(html, -1) {
		if strings.Contains(m[2], "<!--") || strings.Contains(m[2], "</"+m[1]) {
			t.Errorf("%s ends before its end", m[1])
		}
	}
}
