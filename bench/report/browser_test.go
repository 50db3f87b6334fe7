package report

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"penstock/bench/report/examples"
	"penstock/bench/result"
)

// seen is what a browser makes of a page, and what it complained of.
func seen(t *testing.T, d *result.Document) (dom, complaints string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("chromium is not installed, or this is to be short")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := Page(path, d); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // longer is no work but a hang
	defer cancel()
	var errs bytes.Buffer
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--dump-dom", "file://"+path)
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatal(err, errs.String())
	}
	return string(out), strings.Join(console.FindAllString(errs.String(), -1), "\n")
}

// console is how the browser logs what a page did wrong: a policy broken,
// something that would not load.
var console = regexp.MustCompile(`(?m)^.*:CONSOLE.*$`)

// The page comes through a browser without a complaint, and each plot names
// its axes.
func TestBrowser(t *testing.T) {
	dom, complaints := seen(t, examples.Overload())
	if complaints != "" {
		t.Error(complaints)
	}
	for _, axis := range []string{
		"penstock's figure divided by the rival's; 1 is equal; log scale",
		"time from when a connection or request was due, or begun, to its end, log scale",
		"time from when a client was due to its first byte at a server, log scale",
		"time from a slot freed at the limit to the next connection there, log scale",
		"share that took no longer", "99.9 %", "500 ms", "clients connected and not with a server",
		"connections at servers", "time since the first sample, s",
	} {
		if !strings.Contains(dom, ">"+axis+"</text>") {
			t.Errorf("no plot says %q", axis)
		}
	}
	if n := strings.Count(dom, "<svg"); n != 6 {
		t.Errorf("%d plots, want 6", n)
	}
}

// loads are the ways in which a page could take something from elsewhere.
var loads = regexp.MustCompile(`(?i)<[^>]*\b(src|href|action|data|srcset)\s*=|url\(|@import|<(script|link|iframe|object|embed|img|base)\b`)

// Nothing is loaded, and no name becomes markup.
func TestNothingIsLoaded(t *testing.T) {
	for i, d := range examples.All() {
		if at := loads.FindString(pageOf(t, i)); at != "" {
			t.Errorf("%s: %s", d.Scenario, at)
		}
	}
	dom, complaints := seen(t, examples.Hostile())
	if complaints != "" {
		t.Error(complaints)
	}
	body := dom[strings.Index(dom, "<body"):]
	if at := regexp.MustCompile(`<(script|img|b|i|u|a)\b`).FindString(body); at != "" {
		t.Error("a name was taken for HTML:", at)
	}
}

// A page can be looked at: PAGES=DIRECTORY writes all of them there.
func TestPagesForEyes(t *testing.T) {
	dir := os.Getenv("PAGES")
	if dir == "" {
		t.Skip("PAGES names no folder")
	}
	for _, d := range examples.All() {
		if err := Page(filepath.Join(dir, d.Scenario+".html"), d); err != nil {
			t.Error(err)
		}
	}
}
