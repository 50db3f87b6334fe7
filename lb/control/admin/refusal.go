package admin

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"penstock/lb/control/config"
)

// refusal is why a request is not done. Nothing has changed.
type refusal struct {
	code     int
	Text     string    `json:"error"`
	Mistakes []Mistake `json:"mistakes,omitempty"`
}

// Mistake is one key that is wrong in a request, and what is allowed.
type Mistake struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Error is for people.
func (r *refusal) Error() string { return r.Text }

func badRequest(format string, args ...any) *refusal {
	return &refusal{code: http.StatusBadRequest, Text: fmt.Sprintf(format, args...)}
}

func unknown(kind, name string) *refusal {
	return &refusal{code: http.StatusNotFound, Text: fmt.Sprintf("no %s %q", kind, name)}
}

// mistaken says all mistakes in one text, too.
func mistaken(list []Mistake) *refusal {
	r := &refusal{code: http.StatusBadRequest, Mistakes: list}
	var lines []string
	for _, m := range list {
		lines = append(lines, m.String())
	}
	r.Text = strings.Join(lines, "\n")
	return r
}

// String is the mistake as the flags' mistakes are told.
func (m Mistake) String() string {
	if m.Key == "" {
		return m.Why
	}
	return m.Key + "=" + strconv.Quote(m.Value) + ": " + m.Why
}

// mostQuote is how much of a wrong key or value is repeated.
const mostQuote = 200

func mistake(key, value, why string) Mistake { return Mistake{cut(key), cut(value), why} }

// cut shortens text, between two letters.
func cut(s string) string {
	if len(s) <= mostQuote {
		return s
	}
	n := mostQuote
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// refuse answers with what an error says.
func refuse(w http.ResponseWriter, err error) {
	var r *refusal
	var lines config.Mistakes
	switch {
	case errors.As(err, &r):
	case errors.As(err, &lines):
		list := make([]Mistake, len(lines))
		for i, line := range lines {
			list[i] = parseMistake(line)
		}
		r = &refusal{code: http.StatusBadRequest, Text: lines.Error(), Mistakes: list}
	case errors.Is(err, config.ErrUnknown):
		r = &refusal{code: http.StatusNotFound, Text: err.Error()}
	default:
		r = &refusal{code: http.StatusInternalServerError, Text: err.Error()}
	}
	write(w, r.code, r)
}

// mistakeLine is a line of config.Mistakes about one key of an object.
var mistakeLine = regexp.MustCompile(`^[^"=]*: ([^"=]+)=("(?:[^"\\]|\\.)*"(?:\.\.\.)?): (.*)$`)

// parseMistake takes a line apart for programs; people get the whole line.
func parseMistake(line string) Mistake {
	m := mistakeLine.FindStringSubmatch(line)
	if m == nil {
		return Mistake{Why: line}
	}
	quoted, more := strings.CutSuffix(m[2], "...")
	value, err := strconv.Unquote(quoted)
	if err != nil {
		value = quoted
	}
	if more {
		value += "..."
	}
	return Mistake{m[1], value, m[3]}
}

// fail refuses for one reason.
func fail(w http.ResponseWriter, code int, what string) { refuse(w, &refusal{code: code, Text: what}) }
