package tally

import "slices"

// Client is what a client has seen.
//
// What counts is what was due in the measured time (open model), or what ended
// in it (closed model).
type Client struct {
	Seconds  float64  `json:"seconds"` // of the measured time
	Begun    uint64   `json:"begun"`   // connections begun, counted or not
	Outcomes Outcomes `json:"outcomes"`
	Received uint64   `json:"received"` // bytes
	Sent     uint64   `json:"sent"`     // bytes; of bulk work
	Late     uint64   `json:"late"`     // served, but later than Config.Late
	Cause    string   `json:"cause,omitempty"`

	// Latency is of what was served: from when it was due (open model) or begun
	// (closed) to the end of the response, and of the connection where the
	// server closes. Connect is from the same moment to the handshake's end.
	// Patience is of those who gave up: how long they had waited.
	Latency  *Histogram `json:"latency,omitempty"`
	Connect  *Histogram `json:"connect,omitempty"`
	Patience *Histogram `json:"patience,omitempty"`

	// Lag is how late the client itself began what was due: it shows whether
	// the generator kept up. Open model only.
	Lag *Histogram `json:"lag,omitempty"`

	// Open is how many connections there were, over time.
	Open Series `json:"open"`

	// Handshakes are a generator's that makes them by itself.
	Handshakes *Handshakes `json:"handshakes,omitempty"`

	// CPU seconds in the measured time, of the client itself and of the
	// processes watched.
	CPU     float64         `json:"cpu"`
	Watched map[int]float64 `json:"watched,omitempty"`
}

// Add adds what another one counted meanwhile, so Seconds becomes the longer of
// both. Watched is left as it is: both may have watched the same process, or on
// two hosts two of the same number. Series are added by the clock; see
// Series.Since for those of two hosts.
func (c *Client) Add(o *Client) {
	c.Seconds = max(c.Seconds, o.Seconds)
	c.Begun += o.Begun
	c.Outcomes.Add(&o.Outcomes)
	c.Received += o.Received
	c.Sent += o.Sent
	c.Late += o.Late
	if c.Cause == "" {
		c.Cause = o.Cause
	}
	merge(&c.Latency, o.Latency)
	merge(&c.Connect, o.Connect)
	merge(&c.Patience, o.Patience)
	merge(&c.Lag, o.Lag)
	c.Open.Add(o.Open)
	if o.Handshakes != nil {
		if c.Handshakes == nil {
			c.Handshakes = new(Handshakes)
		}
		c.Handshakes.Add(o.Handshakes)
	}
	c.CPU += o.CPU
}

// Series is a number over time: Values[i] was true at From + i*Every. All
// processes sample at whole multiples of Every, so that series can be added.
type Series struct {
	From   int64   `json:"from"`  // ns
	Every  int64   `json:"every"` // ns
	Values []int64 `json:"values"`
}

// SampleEvery is the step of all series.
const SampleEvery int64 = 100_000_000

// Sample adds the value n, which holds from the last sample until now. It is
// to be called at least each time before the value changes or now and then.
func (s *Series) Sample(now, n int64) {
	if s.Every == 0 {
		s.Every = SampleEvery
		s.From = (now + SampleEvery - 1) / SampleEvery * SampleEvery
	}
	for s.From+int64(len(s.Values))*s.Every <= now {
		s.Values = append(s.Values, n)
	}
}

// At is the value at a time, 0 outside of the series.
func (s *Series) At(ns int64) int64 {
	if s.Every == 0 || ns < s.From || (ns-s.From)/s.Every >= int64(len(s.Values)) {
		return 0
	}
	return s.Values[(ns-s.From)/s.Every]
}

// Since is the series on the clock of another one: as it is if they overlap,
// which they do on one machine, else begun with it, as clients that were started
// together on two hosts.
func (s Series) Since(o Series) Series {
	if len(o.Values) > 0 && (s.end() <= o.From || o.end() <= s.From) {
		s.From = o.From
	}
	return s
}

func (s *Series) end() int64 { return s.From + int64(len(s.Values))*s.Every }

// Add adds another series, sample by sample; both must have the same step.
func (s *Series) Add(o Series) {
	if len(o.Values) == 0 {
		return
	}
	if len(s.Values) == 0 {
		*s = Series{From: o.From, Every: o.Every, Values: slices.Clone(o.Values)}
		return
	}
	sum := Series{From: min(s.From, o.From), Every: s.Every}
	for t := sum.From; t < max(s.end(), o.end()); t += sum.Every {
		sum.Values = append(sum.Values, s.At(t)+o.At(t))
	}
	*s = sum
}
