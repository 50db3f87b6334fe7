package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/bench/report/examples"
	"penstock/bench/result"
)

// measured is a folder with a document to fill and what two runs have written.
func measured(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	results := filepath.Join(dir, "results")
	if err := os.Mkdir(results, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*result.Document{examples.Short(), examples.Memory()} {
		if err := d.Write(filepath.Join(results, d.Scenario+".json")); err != nil {
			t.Fatal(err)
		}
	}
	doc := "# Title\n<!-- penbench: claims -->\n<!-- penbench: end -->\n<!-- penbench: scenario short -->\n<!-- penbench: end -->\n"
	if err := os.WriteFile(filepath.Join(dir, "DOC.md"), []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// penbench runs the program with what it prints.
func penbench(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = start(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// A document is checked, filled, and then found right; what changes after that
// is told by its line, and a picture that nothing shows is taken away.
func TestTables(t *testing.T) {
	dir := measured(t)
	doc, results := filepath.Join(dir, "DOC.md"), filepath.Join(dir, "results")
	fill := []string{"tables", "-doc", doc, "-results", results}
	check := append(fill, "-check")

	before, _ := os.ReadFile(doc)
	code, out, _ := penbench(t, check...)
	if code != 1 || !strings.Contains(out, doc+": line 3 changes\n") || !strings.Contains(out, "short-ratio.svg: new\n") {
		t.Errorf("check before: exit %d: %s", code, out)
	}
	if after, _ := os.ReadFile(doc); !bytes.Equal(before, after) || exists(filepath.Join(results, "short-ratio.svg")) {
		t.Error("-check changed something")
	}

	os.WriteFile(filepath.Join(results, "old.svg"), []byte("<svg/>"), 0o600)
	if code, out, errs := penbench(t, fill...); code != 0 || !strings.Contains(out, "old.svg: left over\n") {
		t.Errorf("fill: exit %d: %s%s", code, out, errs)
	}
	if exists(filepath.Join(results, "old.svg")) || !exists(filepath.Join(results, "short-latency.svg")) {
		t.Error("the folder has not just what the document shows")
	}
	text, _ := os.ReadFile(doc)
	if !bytes.Contains(text, []byte("**not reached**")) || !bytes.Contains(text, []byte("](results/short-latency.svg)")) {
		t.Errorf("filled: %s", text)
	}
	if code, out, _ := penbench(t, check...); code != 0 || out != "" {
		t.Errorf("check after: exit %d: %s", code, out)
	}

	os.WriteFile(doc, bytes.Replace(text, []byte("**not reached**"), []byte("reached"), 1), 0o600)
	if code, out, _ := penbench(t, check...); code != 1 || !strings.Contains(out, "DOC.md: line 6 changes") {
		t.Errorf("check after a figure was edited: exit %d: %s", code, out)
	}
}

func TestReports(t *testing.T) {
	dir := measured(t)
	file := filepath.Join(dir, "results", "short.json")
	code, out, errs := penbench(t, "report", file)
	page := filepath.Join(dir, "results", "short.html")
	if code != 0 || !strings.Contains(out, "goal: conn/s >= 1.1x haproxy: NOT reached") || !strings.HasSuffix(out, "\n"+page+"\n") || !exists(page) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	other := filepath.Join(dir, "other.html")
	if code, _, errs := penbench(t, "report", file, "-html", other); code != 0 || !exists(other) {
		t.Errorf("-html: exit %d: %s", code, errs)
	}
}

func TestTableMistakes(t *testing.T) {
	dir := measured(t)
	bad := filepath.Join(dir, "bad.md")
	os.WriteFile(bad, []byte("\n<!-- penbench: clams -->\n"), 0o600)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"tables extra", 2, `unexpected "extra"`},
		{"tables -doc " + dir + "/none.md", 1, "none.md: no such file"},
		{"tables -results " + dir + "/none -doc " + dir + "/DOC.md", 1, "none: no .json of a run in it"},
		{"tables -doc " + bad, 1, "bad.md: line 2: penbench: clams: must be one of calls FILE"},
		{"report", 2, "a FILE.json that `penbench run` has written is needed"},
		{"report a.json b.json -html c", 2, "-html c: is for one FILE.json, not for 2"},
		{"report " + bad, 1, "bad.md: not what penbench run writes"},
	} {
		code, _, errs := penbench(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("penbench %s: exit %d, %s; want %d, %s", c.args, code, errs, c.code, c.want)
		}
	}
	if err := tables(t.Context(), []string{"-h"}, io.Discard, io.Discard); err == nil {
		t.Error("-h did not end it")
	}
}
