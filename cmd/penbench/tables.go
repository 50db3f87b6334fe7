package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/bench/report"
	"penstock/bench/report/fill"
	"penstock/bench/result"
)

// reports prints the tables of what runs have written, and writes the pages; and
// it adds up the lines of clients and servers that were run by hand.
func reports(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("report", flag.ContinueOnError)
	page := fs.String("html", "", "`FILE` for the page (default: beside the .json)")
	files, err := mixed(fs, args, stderr)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return mistake(fs, stderr, errors.New("a FILE.json that `penbench run` has written is needed, or files of what clients or servers printed"))
	}
	if *page != "" && len(files) > 1 {
		return mistake(fs, stderr, fmt.Errorf("-html %s: is for one FILE.json, not for %d", *page, len(files)))
	}
	var all sums
	for _, file := range files {
		is, err := all.add(file)
		switch {
		case err != nil:
			return err
		case is && *page != "":
			return mistake(fs, stderr, fmt.Errorf("-html %s: is for what `penbench run` has written; %s has lines of a client or server", *page, file))
		case is:
			continue
		}
		to := *page
		if to == "" {
			to = strings.TrimSuffix(file, ".json") + ".html"
		}
		if err := reportOn(file, to, stdout); err != nil {
			return err
		}
	}
	return all.print(stdout)
}

func reportOn(file, page string, stdout io.Writer) error {
	d, err := result.Read(file)
	if err != nil {
		return err
	}
	if err := report.Text(stdout, d); err != nil {
		return err
	}
	if err := report.Page(page, d); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\n%s\n", page)
	return err
}

// tables fills the marked places of a document and draws its pictures. With
// -check it changes nothing, and fails if something would change.
func tables(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("tables", flag.ContinueOnError)
	results := fs.String("results", "bench/results", "`DIRECTORY` of what was measured, and of the pictures")
	doc := fs.String("doc", "BENCHMARKS.md", "`FILE` to fill; its marks may say "+strings.Join(fill.Kinds(), ", "))
	check := fs.Bool("check", false, "change nothing, say what differs and exit 1 if something does")
	if err := parse(fs, args, stderr); err != nil {
		return err
	}
	text, err := os.ReadFile(*doc)
	if err != nil {
		return err
	}
	link, err := linkTo(*results, *doc)
	if err != nil {
		return err
	}
	filled, err := fill.Fill(string(text), *results, link)
	if err != nil {
		return fmt.Errorf("%s: %w", *doc, err)
	}
	files, err := wanted(filled, *doc, *results)
	if err != nil {
		return err
	}
	return files.settle(*check, stdout)
}

// linkTo is a folder as seen from where a document lies.
func linkTo(folder, doc string) (string, error) {
	to, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(filepath.Dir(doc))
	if err != nil {
		return "", err
	}
	link, err := filepath.Rel(from, to)
	return filepath.ToSlash(link), err
}

// contents are what files are to have, by path; nil for one that is to go.
type contents map[string][]byte

// wanted are the document and its pictures; others in the folder are left over.
func wanted(f *fill.Filling, doc, results string) (contents, error) {
	files := contents{doc: []byte(f.Text)}
	old, err := filepath.Glob(filepath.Join(results, "*.svg"))
	if err != nil {
		return nil, err
	}
	for _, path := range old {
		files[path] = nil
	}
	for name, picture := range f.Pictures {
		files[filepath.Join(results, name)] = picture
	}
	return files, nil
}

// settle makes files so, or only says which are not, which is a failure then.
func (c contents) settle(check bool, stdout io.Writer) error {
	differ := false
	for _, path := range slices.Sorted(maps.Keys(c)) {
		is, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		what := change(is, c[path])
		if what == "" {
			continue
		}
		differ = true
		fmt.Fprintf(stdout, "%s: %s\n", path, what)
		if err := write(path, c[path], check); err != nil {
			return err
		}
	}
	if check && differ {
		fmt.Fprintln(stdout, "not what was measured: `penbench tables` makes it so")
		return errFailed
	}
	return nil
}

func write(path string, content []byte, check bool) error {
	switch {
	case check:
		return nil
	case content == nil:
		return os.Remove(path)
	}
	return os.WriteFile(path, content, 0o644)
}

// change says what is to change, empty if nothing: content that is nil is not
// there, or is not to be.
func change(is, want []byte) string {
	switch {
	case bytes.Equal(is, want):
		return ""
	case is == nil:
		return "new"
	case want == nil:
		return "left over"
	}
	old, now := bytes.Split(is, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(old), len(now)) {
		if !bytes.Equal(old[i], now[i]) {
			return fmt.Sprintf("line %d changes", i+1)
		}
	}
	return fmt.Sprintf("%d lines become %d", len(old), len(now))
}
