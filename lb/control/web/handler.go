package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed page
var parts embed.FS

// document is the page, and the policy that lets a browser run it.
type document struct {
	html   []byte
	policy string
}

var page = assemble()

// Handler answers GET and HEAD, whatever the path.
func Handler() http.Handler { return http.HandlerFunc(page.serve) }

func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(d.html)))
	h.Set("Content-Security-Policy", d.policy)
	h.Set("Cache-Control", "no-store") // a newer proxy has a newer page
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodGet {
		w.Write(d.html)
	}
}

// assemble panics if a part is missing, which a test sees.
func assemble() *document {
	html, style, script := part("index.html"), part("style.css"), scripts()
	html = put(html, "style", style)
	html = put(html, "script", script)
	return &document{html, strings.Join([]string{
		"default-src 'none'",
		"script-src " + hash(script),
		"style-src " + hash(style),
		"connect-src 'self'",
		"img-src data:", // the icon
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}, "; ")}
}

func part(name string) []byte {
	b, err := parts.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return b
}

// scripts is all of them as one, in strict mode and with no global names.
func scripts() []byte {
	entries, err := parts.ReadDir("page") // sorted
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".js") {
			b.Write(part(e.Name()))
		}
	}
	b.WriteString("})();\n")
	return b.Bytes()
}

// put fills an element that the document has once, and empty.
func put(html []byte, element string, with []byte) []byte {
	empty := []byte("<" + element + "></" + element + ">")
	if bytes.Count(html, empty) != 1 {
		panic("web: the document must have one " + string(empty))
	}
	return bytes.Replace(html, empty, slices.Concat(empty[:len(element)+2], with, empty[len(element)+2:]), 1)
}

// hash is what a policy calls an inline element that it allows.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
