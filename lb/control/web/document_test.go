package web

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// element is a tag of the document with its attributes.
type element struct {
	name       string
	attributes map[string]string
}

// elements reads the document as strictly as XML is, but for what HTML leaves
// open: elements that are never closed, and words without a value.
func elements(t *testing.T) (all []element) {
	t.Helper()
	html := inline.ReplaceAllString(string(page.html), "<$1></$1>")
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{token.Name.Local, map[string]string{}}
			for _, a := range token.Attr {
				if _, twice := e.attributes[a.Name.Local]; twice {
					t.Errorf("<%s> has %s twice", e.name, a.Name.Local)
				}
				e.attributes[a.Name.Local] = a.Value
			}
			all = append(all, e)
			open = append(open, e.name)
		case xml.EndElement:
			if n := len(open); n == 0 || open[n-1] != token.Name.Local {
				t.Fatalf("</%s> ends one of %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	return all
}

func TestDocument(t *testing.T) {
	if !strings.HasPrefix(string(page.html), "<!doctype html>\n<html lang=\"en\">\n") {
		t.Error("no doctype, or no language")
	}
	all := elements(t)
	ids := idsOf(t, all)
	for _, e := range all {
		for _, key := range []string{"for", "aria-labelledby", "aria-describedby"} {
			if to, ok := e.attributes[key]; ok && !slices.Contains(ids, to) {
				t.Errorf("<%s %s=%q> means nothing", e.name, key, to)
			}
		}
		if to, ok := strings.CutPrefix(e.attributes["href"], "#"); ok && !slices.Contains(ids, to) {
			t.Errorf("the link to %q leads nowhere", to)
		}
		if e.name == "input" && !hasLabel(all, e.attributes["id"]) {
			t.Errorf("input %q has no label", e.attributes["id"])
		}
	}
	for _, name := range []string{"title", "main", "h1", "header", "noscript"} {
		if n := countOf(all, name); n != 1 {
			t.Errorf("%d of <%s>, want 1", n, name)
		}
	}
}

func idsOf(t *testing.T, all []element) (ids []string) {
	for _, e := range all {
		if id, ok := e.attributes["id"]; ok {
			if slices.Contains(ids, id) {
				t.Errorf("id %q is there twice", id)
			}
			ids = append(ids, id)
		}
	}
	return ids
}

func hasLabel(all []element, id string) bool {
	return slices.ContainsFunc(all, func(e element) bool { return e.name == "label" && e.attributes["for"] == id })
}

func countOf(all []element, name string) (n int) {
	for _, e := range all {
		if e.name == name {
			n++
		}
	}
	return n
}

// The script and the style sheet name what the document has.
func TestNames(t *testing.T) {
	ids := idsOf(t, elements(t))
	for _, m := range regexp.MustCompile(`byId\("([^"]+)"\)`).FindAllStringSubmatch(string(scripts()), -1) {
		if !slices.Contains(ids, m[1]) {
			t.Errorf("the script wants an element %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`#([a-z][a-z-]*)[^{};]*\{`).FindAllStringSubmatch(string(part("style.css")), -1) {
		if !slices.Contains(ids, m[1]) {
			t.Errorf("the style sheet wants an element %q", m[1])
		}
	}
}

// Parts are short, as other sources are.
func TestPartsAreShort(t *testing.T) {
	entries, err := parts.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := strings.Count(string(part(e.Name())), "\n"); n > 500 {
			t.Errorf("%s has %d lines", e.Name(), n)
		}
	}
}
