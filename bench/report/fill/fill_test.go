package fill

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/bench/report/examples"
	"penstock/bench/report/plots"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// raw is a folder as measuring leaves it.
func raw(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range examples.All() {
		if err := d.Write(filepath.Join(dir, d.Scenario+".json")); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"core.txt": coreText, "syscalls.txt": callsText} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const coreText = `goos: linux
pkg: penstock/lb/dispatch
BenchmarkArrive/limit=4/loops=2-2   	 3000	        90.1 ns/op	       0 B/op	       0 allocs/op
BenchmarkHandOff-2                  	 1000	       600 ns/op	   1700000 handoffs/s
PASS
goos: linux
pkg: penstock/lb/dispatch
BenchmarkArrive/limit=4/loops=2-2   	 3000	        88.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkHandOff-2                  	 1000	       640 ns/op	   1600000 handoffs/s
PASS
pkg: penstock/lb/dispatch
BenchmarkArrive/limit=4/loops=2-2   	 3000	        95.5 ns/op	       0 B/op	       0 allocs/op
BenchmarkHandOff-2                  	 1000	       610 ns/op	   1650000 handoffs/s
PASS
`

const callsText = `# penstock
recvfrom       3.07
accept4        1.11

# haproxy
recvfrom       4.00
epoll_ctl      3.00
`

func TestFill(t *testing.T) {
	source, err := os.ReadFile("testdata/source.md")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Fill(string(source), raw(t), "bench/results")
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		os.WriteFile("testdata/filled.md", []byte(got.Text), 0o644)
	}
	want, err := os.ReadFile("testdata/filled.md")
	if err != nil || got.Text != string(want) {
		t.Errorf("%v; it is (-rewrite takes it):\n%s", err, got.Text)
	}
}

// What was filled is filled again with the same, pictures too.
func TestFillAgain(t *testing.T) {
	source, _ := os.ReadFile("testdata/source.md")
	dir := raw(t)
	first, err := Fill(string(source), dir, "bench/results")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Fill(first.Text, dir, "bench/results")
	if err != nil || second.Text != first.Text || !maps.EqualFunc(first.Pictures, second.Pictures, bytes.Equal) {
		t.Error("not the same:", err)
	}
}

// The pictures are those that the text links to.
func TestPictures(t *testing.T) {
	got, err := Fill("<!-- penbench: scenario short -->\n<!-- penbench: end -->", raw(t), "results")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(got.Pictures))
	if !slices.Equal(names, []string{"short-latency.svg", "short-ratio.svg"}) {
		t.Error(names)
	}
	for _, name := range names {
		if !strings.Contains(got.Text, "](results/"+name+")") {
			t.Error("no link to", name)
		}
	}
	drawn, _ := plots.Of(examples.Short())
	if !bytes.Equal(got.Pictures["short-ratio.svg"], drawn[0].SVG) {
		t.Error("a picture differs after its data was written and read")
	}
}

func TestMistakes(t *testing.T) {
	dir := raw(t)
	os.WriteFile(filepath.Join(dir, "bad.txt"), []byte("# a\ncall\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "empty.txt"), nil, 0o600)
	for mark, want := range map[string]string{
		"clams":                       "penbench: clams: must be one of calls FILE, claims, gobench FILE [REGEXP...], headroom, machine, scenario NAME, or end",
		"":                            "must be one of",
		"claims short":                "penbench: claims short: must be claims",
		"scenario":                    "must be scenario NAME",
		"scenario shirt":              "shirt: must be a file of " + dir + ": churn-with-aborts.json, odd.json, overload-10x.json",
		"scenario ../" + dir + "/odd": "must be a file of",
		"gobench core ( x":            "error parsing regexp",
		"gobench core Nothing":        `core: no benchmark (more) matches "Nothing": there are Arrive/limit=4/loops=2, HandOff`,
		"gobench syscalls":            "no Go benchmark's output in it",
		"calls bad":                   `bad: line 2: "call": must be "# PROXY" or "CALL COUNT"`,
		"calls empty":                 "no call is counted in it",
		"calls core":                  "line 1",
	} {
		_, err := Fill("text\n<!-- penbench: "+mark+" -->\n<!-- penbench: end -->", dir, ".")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v, want %s", mark, err, want)
		}
	}
}

// Marks have to be in pairs; all that is wrong is told at once.
func TestMarks(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- penbench: claims -->\n":                            "line 1: no end of it: <!-- penbench: end -->",
		"<!-- penbench: end -->":                                 "line 1: penbench: end: must be one of",
		"<!-- penbench: claims -->\n<!-- penbench: claims -->\n": "line 2: a mark inside of that of line 1, which has no end\nline 1: no end of it",
	} {
		_, err := Fill(text, raw(t), ".")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	plain := "nothing\n\nto fill <!-- penbench: x -->\n"
	if got, err := Fill(plain, t.TempDir(), "."); err != nil || got.Text != plain {
		t.Errorf("a text without marks became %q: %v", got.Text, err)
	}
	if _, err := Fill("<!-- penbench: claims -->\n<!-- penbench: end -->", t.TempDir(), "."); err == nil {
		t.Error("claims of nothing")
	}
}
