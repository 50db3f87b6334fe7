package arrival

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of what can be written.
const (
	MostRate  = 10_000_000     // a second, and at once in a burst
	LeastRate = 0.001          // a second; a ramp may begin or end at 0
	MostTime  = 24 * time.Hour // of a phase that has a time, and between bursts
)

const forever time.Duration = 1 << 60

// Schedule is when clients are due. The zero value has no phases; nobody is
// due. It is a flag.Value.
type Schedule struct{ phases []phase }

// phase is a part of a schedule.
type phase struct {
	kind     kind
	from, to float64       // arrivals a second: at the beginning and the end
	size     int64         // of a burst
	every    time.Duration // of bursts
	length   time.Duration // forever if it has none
}

type kind string

const (
	constant kind = "constant"
	poisson  kind = "poisson"
	burst    kind = "burst"
	ramp     kind = "ramp"
)

// Parse reads a schedule. The error names the phase and what is allowed.
func Parse(text string) (Schedule, error) {
	var s Schedule
	words := strings.Split(text, ",")
	for i, word := range words {
		p, err := parsePhase(word)
		if err == nil && p.length == forever && i < len(words)-1 {
			err = errors.New("only the last phase may lack /DURATION")
		}
		if err != nil {
			return Schedule{}, fmt.Errorf("arrivals %q: %w", word, err)
		}
		s.phases = append(s.phases, p)
	}
	return s, nil
}

var (
	errKind   = errors.New("a phase is constant:RATE, poisson:RATE, burst:N@EVERY or ramp:FROM..TO, and /DURATION")
	errRate   = fmt.Errorf("a rate is a number from %v to %d, of connections a second", LeastRate, MostRate)
	errBurst  = fmt.Errorf("a burst is burst:N@EVERY with N from 1 to %d and EVERY at least 1µs", MostRate)
	errRamp   = errors.New("a ramp is ramp:FROM..TO/DURATION, its rates from 0 up and not both 0")
	errLength = fmt.Errorf("a duration is more than 0 and at most %v", MostTime)
)

func parsePhase(word string) (p phase, err error) {
	what, length, limited := strings.Cut(word, "/")
	p.length = forever
	if limited {
		p.length, err = time.ParseDuration(length)
		if err != nil || p.length <= 0 || p.length > MostTime {
			return p, errLength
		}
	}
	name, how, _ := strings.Cut(what, ":")
	p.kind = kind(name)
	switch p.kind {
	case constant, poisson:
		p.from, err = rate(how)
		p.to = p.from
		if p.from == 0 {
			return p, errRate
		}
		return p, err
	case burst:
		return p, p.parseBurst(how)
	case ramp:
		return p, p.parseRamp(how, limited)
	}
	return p, errKind
}

func (p *phase) parseBurst(how string) (err error) {
	n, every, _ := strings.Cut(how, "@")
	if p.size, err = strconv.ParseInt(n, 10, 64); err != nil || p.size < 1 || p.size > MostRate {
		return errBurst
	}
	if p.every, err = time.ParseDuration(every); err != nil || p.every < time.Microsecond || p.every > MostTime {
		return errBurst
	}
	return nil
}

func (p *phase) parseRamp(how string, limited bool) (err error) {
	from, to, ok := strings.Cut(how, "..")
	if !ok || !limited {
		return errRamp
	}
	if p.from, err = rate(from); err != nil {
		return err
	}
	if p.to, err = rate(to); err == nil && p.from == 0 && p.to == 0 {
		err = errRamp
	}
	return err
}

// rate reads one, of 0 too.
func rate(text string) (float64, error) {
	r, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(r) || r != 0 && r < LeastRate || r > MostRate {
		return 0, errRate
	}
	return math.Abs(r), nil // no -0
}

// Phases is how many there are.
func (s Schedule) Phases() int { return len(s.phases) }

// String writes it so that Parse reads the same.
func (s Schedule) String() string {
	var words []string
	for _, p := range s.phases {
		words = append(words, p.String())
	}
	return strings.Join(words, ",")
}

func (p phase) String() string {
	number := func(r float64) string { return strconv.FormatFloat(r, 'f', -1, 64) }
	text := string(p.kind) + ":"
	switch p.kind {
	case burst:
		text += strconv.FormatInt(p.size, 10) + "@" + p.every.String()
	case ramp:
		text += number(p.from) + ".." + number(p.to)
	default:
		text += number(p.from)
	}
	if p.length < forever {
		text += "/" + p.length.String()
	}
	return text
}

// Set is Parse into s, for package flag.
func (s *Schedule) Set(text string) (err error) {
	*s, err = Parse(text)
	return err
}
