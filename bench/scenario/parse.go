package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads a scenario. Variables that are given win over those of the file,
// in every case; one that the file has not is a mistake. The error joins every
// mistake, each as "NAME.bench:LINE: DIRECTIVE ...", or without a line if
// something is missing.
func Parse(name, text string, given ...Variable) (*Scenario, error) {
	lines, why := read(text)
	r := &reading{s: &Scenario{Name: name, Why: why, Rounds: 3}, given: variables{}}
	r.program = slices.ContainsFunc(lines, func(l line) bool { return l.directive == "program" })
	for _, v := range given {
		r.given[v.Name] = v.Value
	}
	lines = r.usable(lines)
	plans := r.plans(lines)
	r.apply(lines, r.lets.with(r.given), true)
	for _, p := range plans {
		r.s.Cases = append(r.s.Cases, r.oneCase(lines, p))
	}
	if len(r.mistakes) == 0 { // else what is missing may be what is mistaken
		r.check()
	}
	if len(r.mistakes) > 0 {
		return nil, errors.Join(r.mistakes...)
	}
	return r.s, nil
}

// reading is a file being read.
type reading struct {
	s       *Scenario
	c       *Case // the one being made
	program bool  // a program prints the figures

	lets, given variables
	mistakes    []error
}

// plan is a case before its lines are read.
type plan struct {
	name   string
	x      float64
	values variables
}

// fault notes a mistake, once: most are the same in all cases.
func (r *reading) fault(at string, err error) {
	err = fmt.Errorf("%s.bench%s%w", r.s.Name, at, err)
	if !slices.ContainsFunc(r.mistakes, func(e error) bool { return e.Error() == err.Error() }) {
		r.mistakes = append(r.mistakes, err)
	}
}

// faultAt notes mistakes in a line.
func (r *reading) faultAt(l line, err error) {
	if several, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range several.Unwrap() {
			r.faultAt(l, e)
		}
		return
	}
	r.fault(fmt.Sprintf(":%d: %s ", l.number, l.directive), err)
}

// missing notes what no line says.
func (r *reading) missing(format string, args ...any) {
	r.fault(": ", fmt.Errorf(format, args...))
}

// usable leaves out lines that are no directive, or one too many.
func (r *reading) usable(lines []line) (good []line) {
	first := map[string]int{}
	for _, l := range lines {
		d, found := find(l.directive)
		at, again := first[l.directive]
		switch {
		case !found:
			r.fault(fmt.Sprintf(":%d: ", l.number), wrongf(l.directive, "is not a directive; these are: %s", list(directiveNames())))
		case again && !d.often:
			r.faultAt(l, wrongf(l.value, "is there already, in line %d", at))
		default:
			first[l.directive] = l.number
			good = append(good, l)
		}
	}
	return good
}

// plans reads the variables, and the cases that set them.
func (r *reading) plans(lines []line) (plans []plan) {
	r.lets = variables{}
	for _, l := range lines {
		var err error
		switch l.directive {
		case "let":
			var list []string
			if list, err = words(l.value); err == nil {
				_, err = r.values(list, r.lets)
			}
		case "case":
			var p plan
			if p, err = r.plan(l.value, plans); p.name != "" { // else more mistakes would follow from one
				plans = append(plans, p)
			}
		}
		if err != nil {
			r.faultAt(l, err)
		}
	}
	if len(plans) == 0 {
		plans = []plan{{}}
	}
	r.givenAreKnown(plans)
	return plans
}

func (r *reading) plan(value string, before []plan) (p plan, err error) {
	list, err := words(value)
	if err != nil {
		return p, err
	}
	if len(list) == 0 || !name.MatchString(list[0]) {
		return p, wrongf(value, "must begin with a name, which %s", nameForm)
	}
	if slices.ContainsFunc(before, func(q plan) bool { return q.name == list[0] }) {
		return p, wrong(list[0], "is there already")
	}
	p = plan{name: list[0], values: variables{}}
	first, err := r.values(list[1:], p.values)
	if err != nil {
		return p, err
	}
	if x, is := p.values["x"]; is {
		if p.x, err = strconv.ParseFloat(x, 64); err != nil || !(-most <= p.x && p.x <= most) {
			return p, wrong("x="+x, "must be a number from -1e18 to 1e18")
		}
		return p, nil
	}
	value = p.values[first]
	if g, is := r.given[first]; is {
		value = g
	}
	if x, err := strconv.ParseFloat(value, 64); err == nil && -most <= x && x <= most {
		p.x = x
	}
	return p, nil
}

// values reads VAR=VALUE words, and says which came first.
func (r *reading) values(list []string, to variables) (first string, err error) {
	for _, word := range list {
		key, value, found := strings.Cut(word, "=")
		if _, again := to[key]; again {
			return first, wrong(word, "is there already")
		}
		if !found || key == "" || strings.ContainsFunc(key, func(c rune) bool { return c > 'z' || !letter(byte(c)) }) {
			return first, wrong(word, "must be VAR=VALUE, with only letters, digits and _ in VAR")
		}
		if to[key] = value; first == "" {
			first = key
		}
	}
	return first, nil
}

// givenAreKnown finds variables that were given in vain.
func (r *reading) givenAreKnown(plans []plan) {
	all := r.lets
	for _, p := range plans {
		all = all.with(p.values)
	}
	for name := range r.given {
		if _, found := all[name]; !found {
			r.missing("%w", wrongf(name, "is not a variable (%s)", all.names()))
		}
	}
}

// oneCase reads the lines that may differ by case.
func (r *reading) oneCase(lines []line, p plan) Case {
	r.c = &Case{
		Name: p.name, X: p.x, Copies: 1, Members: 1, Loops: 2,
		Warm: 500 * time.Millisecond, For: 3 * time.Second, Settle: 5 * time.Second,
	}
	r.apply(lines, r.lets.with(p.values).with(r.given), false)
	return *r.c
}

// apply reads the lines that are for all cases, or those that are not.
func (r *reading) apply(lines []line, values variables, common bool) {
	for _, l := range lines {
		d, _ := find(l.directive)
		if d.read == nil {
			continue
		}
		value, err := values.expand(l.value)
		if d.common == common && err == nil {
			err = d.read(r, value)
		}
		if d.common == common && err != nil {
			r.faultAt(l, err)
		}
		if !common && err == nil {
			r.c.Lines = append(r.c.Lines, l.directive+" "+value)
		}
	}
}
