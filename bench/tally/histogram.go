package tally

import (
	"encoding/json"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts spans of time from 1 µs to an hour, with three digits. In
// JSON it is HdrHistogram's own compressed form in base64 (V2), so that any
// tool of that family reads it and merging is exact. Make it with NewHistogram
// or by unmarshalling.
type Histogram struct{ h *hdrhistogram.Histogram }

// NewHistogram returns an empty one.
func NewHistogram() *Histogram {
	return &Histogram{hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)}
}

// Record counts a span in nanoseconds. Less than 1 µs counts as 1 µs, more
// than an hour as an hour: nothing is left out.
func (g *Histogram) Record(ns int64) {
	g.h.RecordValue(min(max(ns/1000, 1), int64(time.Hour/time.Microsecond)))
}

// Merge adds the counts of o, which may be nil.
func (g *Histogram) Merge(o *Histogram) {
	if o != nil && o.h != nil {
		g.h.Merge(o.h)
	}
}

// merge adds o to a histogram that is made if there is something to add.
func merge(sum **Histogram, o *Histogram) {
	if o == nil {
		return
	}
	if *sum == nil {
		*sum = NewHistogram()
	}
	(*sum).Merge(o)
}

// Count is how many were recorded; 0 for nil.
func (g *Histogram) Count() int64 {
	if g == nil || g.h == nil {
		return 0
	}
	return g.h.TotalCount()
}

// Percentile is the span in µs that p percent of all don't exceed; 0 if there
// are none.
func (g *Histogram) Percentile(p float64) float64 {
	if g.Count() == 0 {
		return 0
	}
	return float64(g.h.ValueAtPercentile(p))
}

// Bars are the counts in order of the spans, without the empty ones.
func (g *Histogram) Bars() (bars []Bar) {
	if g.Count() == 0 {
		return nil
	}
	for _, b := range g.h.Distribution() {
		if b.Count > 0 {
			bars = append(bars, Bar{float64(b.To), b.Count})
		}
	}
	return bars
}

// Bar says that Count spans are in the class that ends at Micros.
type Bar struct {
	Micros float64
	Count  int64
}

// Reset forgets all.
func (g *Histogram) Reset() { g.h.Reset() }

func (g *Histogram) MarshalJSON() ([]byte, error) {
	if g.Count() == 0 {
		return []byte(`""`), nil
	}
	text, err := g.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}

func (g *Histogram) UnmarshalJSON(text []byte) (err error) {
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	*g = *NewHistogram()
	if encoded == "" {
		return nil
	}
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err == nil {
		g.h.Merge(h)
	}
	return err
}
