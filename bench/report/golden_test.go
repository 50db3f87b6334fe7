package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"penstock/bench/report/examples"
	"penstock/bench/result"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	is, was := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			t.Errorf("%s, line %d (-rewrite takes it):\n got %s\nwant %s", name, i+1, is[i], was[i])
			return
		}
	}
	t.Errorf("%s has %d lines, want %d (-rewrite takes it)", name, len(is), len(was))
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	for _, d := range examples.All() {
		if err := Text(&out, d); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	golden(t, "text.txt", out.String())
}

func TestMarkdown(t *testing.T) {
	all := examples.All()
	parts := []string{Claims(all), Machine(all), Headroom(all)}
	for _, d := range all {
		parts = append(parts, Section(d, []Image{{"A | [picture]", "bench/results/x.svg"}}))
	}
	golden(t, "markdown.md", strings.Join(parts, "\n"))
}

// picture is a plot's markup, which the plots' own tests look at.
var picture = regexp.MustCompile(`(?s)<svg.*?<title>(.*?)</title>.*?</svg>`)

func pageOf(t *testing.T, i int) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, examples.All()[i]); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPage(t *testing.T) {
	for i, d := range examples.All() {
		text := picture.ReplaceAllString(pageOf(t, i), "[$1]")
		text = strings.Replace(text, pageCSS, "", 1)
		golden(t, d.Scenario+".html", text)
	}
}

// Two machines get a table each; one that only was busier does not.
func TestMachines(t *testing.T) {
	a, b, c := examples.Short(), examples.Memory(), examples.Core()
	b.Machine.Load, b.Machine.Versions["haproxy"] = "10.50", "3.0.1"
	c.Machine.Cores = 64
	text := Machine([]*result.Document{a, b, c})
	for _, want := range []string{
		"short, parked-memory:\n", "| load before | 0.31 to 10.50 |", "| haproxy | 2.6.12, 3.0.1 |",
		"queue-cost:\n", "64 cores", "| load before | 0.31 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in it: %q", want)
		}
	}
}

// Page leaves a whole file, and nothing beside it.
func TestPageFile(t *testing.T) {
	dir := t.TempDir()
	if err := Page(filepath.Join(dir, "short.html"), examples.Short()); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	text, err := os.ReadFile(filepath.Join(dir, "short.html"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(string(text), "</html>\n") {
		t.Error(err, left)
	}
	if err := Page(filepath.Join(dir, "no", "short.html"), examples.Short()); err == nil {
		t.Error("written into a folder that is not there")
	}
}

// A goal that is about a proxy nobody asked to run is not missed; in the claims
// of a document it is not measured.
func TestNotAsked(t *testing.T) {
	d := examples.Short()
	d.Cases[0].Peers = d.Cases[0].Peers[:1]
	var out bytes.Buffer
	if err := Text(&out, d); err != nil || strings.Contains(out.String(), "goal") {
		t.Error(err, out.String())
	}
	if text := claim(d); strings.Contains(text, "goal") {
		t.Error(text)
	}
	if text := Claims([]*result.Document{d}); strings.Count(text, "not measured") != 2 {
		t.Error(text)
	}
}

// One round tells no spread, and a goal that only the median reaches is told so.
func TestWhatIsNotSure(t *testing.T) {
	d := examples.Short()
	d.Rounds = 1
	for _, p := range d.Cases[0].Peers {
		p.Rounds = p.Rounds[:1]
	}
	if text := rounds(d) + claim(d); !strings.Contains(text, "no spread is known") || !strings.Contains(text, "That is of one round") {
		t.Error(text)
	}
	d = examples.Memory()
	d.Goals = []result.Goal{{Metric: "B/client", Value: 210}, {Metric: "B/client", Value: 1, To: "nginx"}}
	want := "1 of 2 goals is not measured: B/client <= 1x nginx."
	if text := goalsInWords(d.Judge()); text != want {
		t.Error(text)
	}
	want = "Its goal is reached by the median, not in every round."
	if text := goalsInWords(d.Judge()[:1]); text != want {
		t.Error(text)
	}
}

// Clients that were late themselves are told of where times are.
func TestLateClients(t *testing.T) {
	d := examples.Overload()
	if text := lagging(d); text != nil {
		t.Error(text)
	}
	for i := range d.Cases[0].Peers[1].Rounds {
		d.Cases[0].Peers[1].Rounds[i].Lag99 = 2e6
	}
	if text := claim(d); !strings.HasSuffix(text, "99 % began within: haproxy 2.00 s.") {
		t.Error(text)
	}
}

// A rate is not said of a core that the proxy hardly used.
func TestIdleProxySizesNothing(t *testing.T) {
	d := examples.Short()
	for i := range d.Cases[0].Peers[0].Rounds {
		d.Cases[0].Peers[0].Rounds[i].Cores.Proxy = 0.13
	}
	if all := sizing(d); len(all) != 1 || !strings.HasPrefix(all[0], "haproxy: ") {
		t.Errorf("%q", all)
	}
}
