package span

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Most is the longest span that can be written. An exponential one can come
// out longer.
const Most = time.Hour

const allowed = `DURATION, exp:MEAN or uniform:LEAST..MOST, of 0s to 1h, as "5ms", "exp:5ms" or "uniform:1ms..9ms"`

// Dist is a distribution of a span of time. The zero value is always 0. It is
// comparable, and a flag.Value.
type Dist struct {
	kind        kind
	least, most time.Duration // of always and exponential: the same, the mean
}

type kind uint8

const (
	always kind = iota
	exponential
	uniform
)

// Always is a span that does not vary. It must be from 0 to Most.
func Always(d time.Duration) Dist { return Dist{always, d, d} }

// Parse reads one.
func Parse(text string) (Dist, error) {
	d, err := parse(text)
	if err != nil || d.least < 0 || d.least > d.most || d.most > Most {
		return Dist{}, fmt.Errorf("span %q is not %s", text, allowed)
	}
	return d, nil
}

func parse(text string) (Dist, error) {
	if mean, ok := strings.CutPrefix(text, "exp:"); ok {
		d, err := time.ParseDuration(mean)
		return Dist{exponential, d, d}, err
	}
	bounds, ok := strings.CutPrefix(text, "uniform:")
	if !ok {
		d, err := time.ParseDuration(text)
		return Always(d), err
	}
	from, to, _ := strings.Cut(bounds, "..")
	least, err := time.ParseDuration(from)
	if err != nil {
		return Dist{}, err
	}
	most, err := time.ParseDuration(to)
	return Dist{uniform, least, most}, err
}

// Next draws a span in nanoseconds.
func (d Dist) Next(r *rand.Rand) int64 {
	switch d.kind {
	case exponential:
		return int64(r.ExpFloat64() * float64(d.most))
	case uniform:
		return int64(d.least) + r.Int64N(int64(d.most-d.least)+1)
	}
	return int64(d.most)
}

// Mean is what the spans come to on average.
func (d Dist) Mean() time.Duration { return d.least + (d.most-d.least)/2 }

// Zero says that every span is 0.
func (d Dist) Zero() bool { return d.most == 0 }

// String writes it so that Parse reads the same.
func (d Dist) String() string {
	switch d.kind {
	case exponential:
		return "exp:" + d.most.String()
	case uniform:
		return "uniform:" + d.least.String() + ".." + d.most.String()
	}
	return d.most.String()
}

// Set is Parse into d, for package flag.
func (d *Dist) Set(text string) (err error) {
	*d, err = Parse(text)
	return err
}

// MarshalText is String.
func (d Dist) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is Set.
func (d *Dist) UnmarshalText(text []byte) error { return d.Set(string(text)) }
