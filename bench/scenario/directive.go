package scenario

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"penstock/bench/tally"
)

// directive is one that a file may use.
type directive struct {
	name   string
	form   string // of what follows
	often  bool   // may stand more than once
	common bool   // is for all cases, so that a case's variables can't be used
	read   func(r *reading, value string) error
}

// directives is all there are, in the order of the reference in doc.go. It is
// filled by init since reading looks at it.
var directives []directive

func init() {
	directives = []directive{
		{"about", "TEXT", false, true, (*reading).about},
		{"proxies", "NAME...", false, true, (*reading).proxies},
		{"rounds", "N", false, true, (*reading).rounds},
		{"metric", "NAME [more]", true, true, (*reading).metric},
		{"goal", "METRIC >=|<= N [PROXY] [in CASE]", true, true, (*reading).goal},
		{"let", "VAR=VALUE...", true, true, nil},
		{"case", "NAME [x=N] VAR=VALUE...", true, true, nil},
		{"vary", "TEXT", false, true, (*reading).vary},
		{"server", "[NAME] FLAGS", true, false, (*reading).server},
		{"reflect", "[NAME] FLAGS", true, false, (*reading).reflector},
		{"client", "[NAME] [xN] FLAGS", true, false, (*reading).client},
		{"syn", "[NAME] FLAGS", true, false, (*reading).generator},
		{"program", "COMMAND [FLAGS]", false, false, (*reading).command},
		{"members", "N", false, false, (*reading).members},
		{"copies", "N", false, false, (*reading).copies},
		{"loops", "N", false, false, (*reading).loops},
		{"network", "loopback|link|links", false, false, (*reading).network},
		{"penstock", "FLAG VALUE", true, false, peerLine("penstock")},
		{"haproxy", "SECTION LINE", true, false, peerLine("haproxy")},
		{"nginx", "SECTION LINE", true, false, peerLine("nginx")},
		{"without", "NAME...", true, false, (*reading).without},
		{"every", "TIME reload [LIMIT...]", false, false, (*reading).every},
		{"memory", "parked|pairs [parked|pairs]", false, false, (*reading).memory},
		{"warm", "TIME", false, false, (*reading).warm},
		{"for", "TIME", false, false, (*reading).measured},
		{"settle", "TIME", false, false, (*reading).settle},
		{"allow", "[OUTCOME...]", false, false, (*reading).allow},
		{"ghosts", "N|any", false, false, (*reading).ghosts},
	}
}

func find(name string) (d directive, found bool) {
	at := slices.IndexFunc(directives, func(d directive) bool { return d.name == name })
	if at < 0 {
		return d, false
	}
	return directives[at], true
}

func directiveNames() (names []string) {
	for _, d := range directives {
		names = append(names, d.name)
	}
	return names
}

// text reads what may not be empty.
func text(to *string, value string) error {
	if value == "" {
		return wrong(value, "must be a text")
	}
	*to = value
	return nil
}

func (r *reading) about(value string) error { return text(&r.s.About, value) }
func (r *reading) vary(value string) error  { return text(&r.s.Vary, value) }

func (r *reading) proxies(value string) error {
	list := strings.Fields(value)
	if len(list) == 0 {
		return wrong(value, "must be names of proxies, with blanks between")
	}
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			return wrong(name, "is there already")
		}
	}
	r.s.Proxies = list
	return nil
}

// Ranges that catch slips, and keep arithmetic far from its ends.
const (
	mostRounds  = 1000
	mostMembers = 1000
	mostCopies  = 100
	mostLoops   = 1024
	mostLimit   = 1_000_000
	longest     = time.Hour
)

func number(to *int, value string, least, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return wrongf(value, "must be a number from %d to %d", least, most)
	}
	*to = n
	return nil
}

func (r *reading) rounds(value string) error  { return number(&r.s.Rounds, value, 1, mostRounds) }
func (r *reading) members(value string) error { return number(&r.c.Members, value, 1, mostMembers) }
func (r *reading) copies(value string) error  { return number(&r.c.Copies, value, 1, mostCopies) }
func (r *reading) loops(value string) error   { return number(&r.c.Loops, value, 1, mostLoops) }

func span(to *time.Duration, value string, least time.Duration) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < least || d > longest {
		return wrongf(value, "must be a time from %v to %v, such as 500ms or 3s", least, longest)
	}
	*to = d
	return nil
}

func (r *reading) warm(value string) error     { return span(&r.c.Warm, value, 0) }
func (r *reading) measured(value string) error { return span(&r.c.For, value, time.Millisecond) }
func (r *reading) settle(value string) error   { return span(&r.c.Settle, value, 0) }

// peerLine keeps a line for a program. What it may be is the program's matter.
func peerLine(program string) func(*reading, string) error {
	return func(r *reading, value string) error {
		if value == "" {
			return wrongf(value, "must be a line for %s", program)
		}
		if r.c.Peer == nil {
			r.c.Peer = map[string][]string{}
		}
		r.c.Peer[program] = append(r.c.Peer[program], value)
		return nil
	}
}

func (r *reading) every(value string) error {
	list := strings.Fields(value)
	if len(list) < 2 || list[1] != "reload" {
		return wrong(value, `must be a time, then "reload", then the limits of members that reloads set in turn, if any`)
	}
	for _, word := range list[2:] {
		var limit int
		if err := number(&limit, word, 1, mostLimit); err != nil {
			return err
		}
		r.c.Limits = append(r.c.Limits, limit)
	}
	r.c.Event = list[1]
	return span(&r.c.Every, list[0], time.Millisecond)
}

func (r *reading) without(value string) error {
	r.c.Without = append(r.c.Without, strings.Fields(value)...)
	return nil
}

func (r *reading) network(value string) error {
	if !slices.Contains([]string{"loopback", "link", "links"}, value) {
		return wrong(value, "must be loopback, link or links")
	}
	r.c.Links = value == "links"
	r.c.Link = r.c.Links || value == "link"
	return nil
}

func (r *reading) memory(value string) error {
	list := strings.Fields(value)
	known := func(word string) bool { return word == "parked" || word == "pairs" }
	if len(list) < 1 || len(list) > 2 || !known(list[0]) || !known(list[len(list)-1]) {
		return wrong(value, "must be parked or pairs, and one more for who comes last, if they are measured")
	}
	r.c.Memory, r.c.Later = list[0], strings.Join(list[1:], "")
	return nil
}

func (r *reading) allow(value string) error {
	for _, word := range strings.Fields(value) {
		o, err := tally.ParseOutcome(word)
		if err != nil || o == tally.Served {
			return wrongf(word, "must be one of %s", list(outcomeNames()))
		}
		if !slices.Contains(r.c.Allow, o) {
			r.c.Allow = append(r.c.Allow, o)
		}
	}
	return nil
}

// outcomeNames are those besides served.
func outcomeNames() (names []string) {
	for o := tally.GaveUp; o <= tally.Local; o++ {
		names = append(names, o.String())
	}
	return names
}

func (r *reading) ghosts(value string) error {
	if value == "any" {
		r.c.Ghosts = math.MaxInt
		return nil
	}
	if number(&r.c.Ghosts, value, 0, mostLimit) != nil {
		return wrongf(value, "must be any or a number from 0 to %d", mostLimit)
	}
	return nil
}

// name is how servers, clients, cases and variables may be called.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const nameForm = "must begin with a letter or a digit, and have only these and . _ - in it"
