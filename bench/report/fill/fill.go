package fill

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"penstock/bench/report"
	"penstock/bench/report/plots"
	"penstock/bench/result"
)

// Filling is what a document is to be, and the pictures that it shows: by name,
// to lie in the folder of the raw files.
type Filling struct {
	Text     string
	Pictures map[string][]byte
}

// kind is what a mark may ask for.
type kind struct {
	args string // for those who write it wrongly
	fill func(f *filler, args []string) (string, error)
}

// kinds are what a mark may name.
//
//	claims                    all goals, those not reached first
//	machine                   where all documents came from
//	headroom                  how much clients and servers had left
//	scenario NAME             NAME.json: figures, verdict and pictures
//	gobench FILE [REGEXP...]  Go benchmarks in FILE, of these names
//	calls FILE                system calls in FILE
var kinds = map[string]kind{
	"claims":   {"", func(f *filler, _ []string) (string, error) { return f.ofAll(report.Claims) }},
	"machine":  {"", func(f *filler, _ []string) (string, error) { return f.ofAll(report.Machine) }},
	"headroom": {"", func(f *filler, _ []string) (string, error) { return f.ofAll(report.Headroom) }},
	"scenario": {"NAME", (*filler).scenario},
	"gobench":  {"FILE [REGEXP...]", (*filler).benchmarks},
	"calls":    {"FILE", (*filler).calls},
}

// Kinds are the marks that there are, with what they need.
func Kinds() (all []string) {
	for name, k := range kinds {
		all = append(all, strings.TrimSpace(name+" "+k.args))
	}
	slices.Sort(all)
	return all
}

var (
	begin = regexp.MustCompile(`^\s*<!--\s*penbench:\s*(.*?)\s*-->\s*$`)
	end   = "end"
)

// Fill replaces what stands in the marked places of text by what the files in
// dir say. Pictures are linked to in the folder link, which is dir as seen from
// the document. All mistakes are found, each with its line.
func Fill(text, dir, link string) (*Filling, error) {
	f := &filler{dir: dir, link: link, pictures: map[string][]byte{}}
	var out []string
	var mistakes []error
	open := 0 // the line of the mark whose end is looked for
	for i, line := range strings.Split(text, "\n") {
		mark := begin.FindStringSubmatch(line)
		var err error
		switch {
		case mark == nil && open == 0:
			out = append(out, line)
		case mark == nil:
		case open > 0 && mark[1] == end:
			out, open = append(out, line), 0
		case open > 0:
			err = fmt.Errorf("a mark inside of that of line %d, which has no end", open)
		default:
			var filled string
			filled, err = f.fill(strings.Fields(mark[1]))
			out = append(out, line, "", strings.TrimRight(filled, "\n"), "")
			open = i + 1
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("line %d: %w", i+1, err))
		}
	}
	if open > 0 {
		mistakes = append(mistakes, fmt.Errorf("line %d: no end of it: <!-- penbench: end -->", open))
	}
	return &Filling{strings.Join(out, "\n"), f.pictures}, errors.Join(mistakes...)
}

// filler holds what is read and drawn while a document is filled.
type filler struct {
	dir, link string
	documents []*result.Document // all, once they were needed
	pictures  map[string][]byte
}

func (f *filler) fill(words []string) (string, error) {
	if len(words) == 0 || kinds[words[0]].fill == nil {
		return "", fmt.Errorf("penbench: %s: must be one of %s, or end", strings.Join(words, " "), strings.Join(Kinds(), ", "))
	}
	k, args := kinds[words[0]], words[1:]
	need := len(strings.Fields(k.args))
	several := strings.HasSuffix(k.args, "...]")
	if len(args) != need && !(several && len(args) >= need-1) {
		return "", fmt.Errorf("penbench: %s: must be %s", strings.Join(words, " "), strings.TrimSpace(words[0]+" "+k.args))
	}
	return k.fill(f, args)
}

func (f *filler) ofAll(table func([]*result.Document) string) (string, error) {
	all, err := f.all()
	if err != nil {
		return "", err
	}
	return table(all), nil
}

// scenario shows the pictures that tell its result.
func (f *filler) scenario(args []string) (string, error) {
	d, err := f.document(args[0])
	if err != nil {
		return "", err
	}
	drawn, err := plots.Of(d)
	if err != nil {
		return "", err
	}
	var images []report.Image
	for _, p := range drawn {
		if p.Main {
			name := args[0] + "-" + p.Name + ".svg"
			f.pictures[name] = p.SVG
			images = append(images, report.Image{Title: p.Title, Link: path.Join(f.link, name)})
		}
	}
	return report.Section(d, images), nil
}
