package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// line is one directive of a file.
type line struct {
	number    int
	directive string
	value     string // what follows, variables not yet in place
}

// read cuts a file into its directives. The comment that the file begins with
// is why; other comments and empty lines are left out.
func read(text string) (lines []line, why string) {
	var head []string
	begun := false // something else than the leading comment was there
	for i, raw := range strings.Split(text, "\n") {
		raw = strings.TrimSpace(strings.TrimSuffix(raw, "\r"))
		if comment, is := strings.CutPrefix(raw, "#"); is && !begun {
			head = append(head, strings.TrimPrefix(comment, " "))
			continue
		}
		begun = begun || len(head) > 0 || raw != ""
		if raw = uncomment(raw); raw == "" {
			continue
		}
		directive, value := raw, ""
		if at := strings.IndexAny(raw, " \t"); at >= 0 {
			directive, value = raw[:at], strings.TrimSpace(raw[at:])
		}
		lines = append(lines, line{i + 1, directive, value})
	}
	return lines, strings.TrimSpace(strings.Join(head, "\n"))
}

// uncomment cuts what follows a # that begins a word outside of quotes.
func uncomment(s string) string {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '#' && !quoted && (i == 0 || blank(s[i-1])):
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

var errQuote = errors.New(`has no second "`)

// words cuts at blanks. Quotes keep blanks together, and vanish.
func words(s string) (list []string, err error) {
	var word strings.Builder
	inside, quoted := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			quoted, inside = !quoted, true
		case blank(c) && !quoted:
			if inside {
				list = append(list, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if quoted {
		return nil, wrong(s, errQuote.Error())
	}
	if inside {
		list = append(list, word.String())
	}
	return list, nil
}

// variables are values by name.
type variables map[string]string

// with is the same with others over them.
func (v variables) with(others variables) variables {
	all := variables{}
	for _, from := range []variables{v, others} {
		for name, value := range from {
			all[name] = value
		}
	}
	return all
}

func (v variables) names() string {
	if len(v) == 0 {
		return "there are none"
	}
	var names []string
	for name := range v {
		names = append(names, "$"+name)
	}
	slices.Sort(names)
	return "known: " + strings.Join(names, ", ")
}

// expand puts values in the place of $name and ${name}. A dollar is $$.
func (v variables) expand(s string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		if after, is := strings.CutPrefix(rest, "$"); is {
			out.WriteByte('$')
			s = after
			continue
		}
		name, after := variableName(rest)
		value, known := v[name]
		if !known {
			return "", wrong("$"+name, fmt.Sprintf("is not a variable (%s)", v.names()))
		}
		out.WriteString(value)
		s = after
	}
}

// variableName cuts the name after a dollar off.
func variableName(s string) (name, after string) {
	if inner, is := strings.CutPrefix(s, "{"); is {
		if name, after, found := strings.Cut(inner, "}"); found {
			return name, after
		}
	}
	n := 0
	for n < len(s) && letter(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

func letter(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// mistake says what is wrong with a word.
type mistake struct{ word, why string }

func (m *mistake) Error() string { return fmt.Sprintf("%q: %s", m.word, m.why) }

func wrong(word, why string) error { return &mistake{word, why} }

// wrongf is wrong with a format.
func wrongf(word, format string, args ...any) error {
	return wrong(word, fmt.Sprintf(format, args...))
}
