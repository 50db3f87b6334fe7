package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnits runs testdata/units.js behind the scripts that don't need a page.
func TestUnits(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	var all [][]byte
	for _, name := range []string{"1-show.js", "3-history.js", "4-chart.js", "5-objects.js"} {
		all = append(all, part(name))
	}
	units, err := os.ReadFile("testdata/units.js")
	if err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(node, "-"), slices.Concat(append(all, units)...))
}

// The script is one that parses, whatever it does.
func TestScriptParses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	run(t, exec.Command(node, "--check", "-"), scripts())
}

func run(t *testing.T, c *exec.Cmd, stdin []byte) {
	t.Helper()
	c.Stdin = bytes.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// answers of an interface whose names are not what the proxy would allow.
var answers = map[string]string{
	"/healthz": "ok\n",
	"/v1/virtuals": `{"virtuals":[{"name":"<img src=x onerror=alert(1)>","listen":"198.18.0.9:80","front":"tap","pool":"app","connections":{"current":3,"maximum":4,"total":9,"limit":5},
		"connq":{"depth":2,"ageHeadMs":1500,"serviced":7},"refused":1,"bytes":{"up":1,"down":2}}]}`,
	"/v1/pools": `{"pools":[{"name":"app<b>","state":"down","reason":"why & <i>how</i>","effectiveDepth":null,"releasesPerSecond":2.5,
		"connections":{"current":3,"maximum":4,"total":9,"limit":0},"connq":{"depth":1},"connqAll":{"depth":2,"serviced":7,"ageHeadMs":1500,"ageEmaMs":2,"ageMaxMs":3},
		"expired":4,"overflowed":0,"refusedNoMember":0,"early":0,"shed":0,"flushed":0,"abandoned":6,
		"members":[{"pool":"app<b>","address":"10.0.0.1:80","state":"back-off","reason":"a dial failed","connections":{"current":3,"maximum":4,"total":9,"limit":8},
		"connq":{"depth":1,"ageHeadMs":0},"dialFailures":5,"expired":0,"overflowed":0,"refusedNoMember":0,"early":0,"shed":0,"flushed":0}]}]}`,
	"/v1/tap": `{"device":"tap<i>0","up":true,"handshakes":{"parked":1234,"proven":12,"limit":5678,"begun":9,"accepted":8,"reset":2,"silent":3,
		"droppedFull":10,"droppedShare":20,"badChecksum":40},"cookies":{"sent":77},"bytes":{"in":1,"out":2},
		"forwarding":{"connections":4321},"servers":{"up":false}}`,
	"/v1/waiters": `{"total":1,"waiters":[{"position":1,"client":"192.0.2.7:555","virtual":"web","pool":"app","queue":"pool","ageMs":90000,"expectedMs":null,"class":3,"tries":0}]}`,
}

func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		Handler().ServeHTTP(w, r)
		return
	}
	body, ok := answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	io.WriteString(w, body)
}

// dom is what a browser makes of the page after some seconds.
func dom(t *testing.T, h http.Handler) string {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("chromium is not installed, or this is to be short")
	}
	s := httptest.NewServer(h)
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--window-size=1000,900", "--virtual-time-budget=2500", "--dump-dom", s.URL)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	return strings.ReplaceAll(text[max(strings.Index(text, "<body>"), 0):], "\u202f", " ")
}

func TestBrowser(t *testing.T) {
	body := dom(t, http.HandlerFunc(answer))
	for _, want := range []string{
		"The proxy answers", "&lt;img src=x onerror=alert(1)&gt;</th>", "3 of 5", "app&lt;b&gt;", "why &amp; &lt;i&gt;how&lt;/i&gt;",
		"any number may wait", "and 1 for one member", "waited too long 4", "left before: 6 clients", "2.50 /s places get free",
		"192.0.2.7:555", "1 min 30 s", "198.18.0.9:80, TAP", "tap&lt;i&gt;0</th>", "1 234 of 5 678", `data-state="servers down"`, ">70</td>", ">77</td>", ">4 321</td>", `data-state="back-off"`, "3 of 8 connections", `class="line"`, "−5 min", "1 in all.",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("not on the page: %s", want)
		}
	}
	if strings.Contains(body, "<img") {
		t.Error("a name was taken for HTML")
	}
}

// Where nobody is on a TAP device it is not asked for.
func TestBrowserNoTap(t *testing.T) {
	body := dom(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/virtuals":
			io.WriteString(w, strings.ReplaceAll(answers[r.URL.Path], `"tap"`, `"kernel"`))
		case "/v1/tap":
			http.NotFound(w, r)
		default:
			answer(w, r)
		}
	}))
	for _, want := range []string{"The proxy answers", `<section id="tap-section" aria-labelledby="tap-title" hidden="">`, ">198.18.0.9:80</td>"} {
		if !strings.Contains(body, want) {
			t.Errorf("not on the page: %s", want)
		}
	}
}

// Without a token the page asks for one, and shows nothing.
func TestBrowserStranger(t *testing.T) {
	body := dom(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(w, r)
	}))
	for _, want := range []string{"A token is needed", `<main id="main" hidden="">`, `<form id="login" class="notice">`} {
		if !strings.Contains(body, want) {
			t.Errorf("not on the page: %s", want)
		}
	}
}

func TestBrowserRefused(t *testing.T) {
	body := dom(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/pools" {
			w.WriteHeader(http.StatusMisdirectedRequest)
			io.WriteString(w, `{"error": "ask <nicely>"}`)
			return
		}
		answer(w, r)
	}))
	if !strings.Contains(body, "The proxy refuses: ask &lt;nicely&gt;.") {
		t.Error("it does not say what the proxy said")
	}
}
