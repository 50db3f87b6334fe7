package result

import (
	"time"

	"penstock/bench/tally"
)

// Document is what a run wrote: all that reports are made of.
type Document struct {
	Scenario string    `json:"scenario"`
	About    string    `json:"about"` // a line
	Why      string    `json:"why,omitempty"`
	Command  string    `json:"command"` // that repeats it
	Date     time.Time `json:"date"`
	Machine  Machine   `json:"machine"`

	// Lines are the scenario as it was run, variables in place.
	Lines []string `json:"lines"`

	Rounds  int      `json:"rounds"`
	Seconds float64  `json:"seconds"` // measured in each round
	Metrics []Metric `json:"metrics"` // in the order to show, the first the most important
	Goals   []Goal   `json:"goals,omitempty"`

	// Cases are the variants of the scenario, at least one, in order. X is what
	// they vary, 0 if there is one only.
	Cases []Case `json:"cases"`
	Vary  string `json:"vary,omitempty"` // what X is, as "clients waiting"
}

// Machine is where it ran.
type Machine struct {
	Kernel   string            `json:"kernel"`
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	Memory   int64             `json:"memory"` // bytes
	Network  string            `json:"network"`
	Load     string            `json:"load"`     // average of the last minute, before
	Versions map[string]string `json:"versions"` // by proxy, and "go"
}

// Metric is one figure of every round.
type Metric struct {
	Name string `json:"name"`           // with its unit, as "conn/s" or "p99 ms"; the key in Round.Figures
	More bool   `json:"more,omitempty"` // more is better
}

// Goal is a condition on a metric: of the ratio to another proxy, of that of
// penstock's own figures in two cases, or of its figure if To and Over are empty.
type Goal struct {
	Metric string  `json:"metric"`
	Case   string  `json:"case,omitempty"` // empty: all
	Least  bool    `json:"least"`          // at least Value; else at most
	Value  float64 `json:"value"`
	To     string  `json:"to,omitempty"`   // a proxy
	Over   string  `json:"over,omitempty"` // a case that Case is divided by
}

// Case is one variant of a scenario.
type Case struct {
	Name  string  `json:"name,omitempty"`
	X     float64 `json:"x,omitempty"`
	Peers []*Peer `json:"peers"` // in the order to show; the first is compared with each other
}

// Peer is what one proxy did. Rounds[i] of all peers of a case ran one after
// the other, so ratios are formed between them.
type Peer struct {
	Name    string  `json:"name"`
	Failure string  `json:"failure,omitempty"` // it does no more rounds after one
	Rounds  []Round `json:"rounds"`
}

// Round is one round of one proxy.
type Round struct {
	Figures  map[string]float64 `json:"figures"`
	Outcomes tally.Outcomes     `json:"outcomes"`
	Verdict  Verdict            `json:"verdict"`
	Order    tally.Order        `json:"order"`

	// Cores that everyone used: how much head-room clients and servers had.
	// Lag99 is the 99th percentile in µs of how late clients began what was due.
	Cores Cores   `json:"cores"`
	Lag99 float64 `json:"lag99,omitempty"`

	Latency  *tally.Histogram `json:"latency,omitempty"`
	Wait     *tally.Histogram `json:"wait,omitempty"`
	Handover *tally.Histogram `json:"handover,omitempty"`
	Release  *tally.Histogram `json:"release,omitempty"` // from a slot freed to the next SYN-ACK

	// Waiting is the clients that are connected and not with a server; InUse
	// the connections at servers. Times are ns from the first sample.
	Waiting tally.Series `json:"waiting"`
	InUse   tally.Series `json:"in_use"`

	First []tally.Overshoot `json:"overshoots,omitempty"` // some of them, with their times
}

// Cores is CPU seconds a second.
type Cores struct {
	Proxy   float64 `json:"proxy"`
	Clients float64 `json:"clients"`
	Servers float64 `json:"servers"`
	Machine float64 `json:"machine,omitempty"` // all of them, and what the kernel did for nobody
}

// Verdict counts what must not happen. All zero is well.
type Verdict struct {
	Overshoots int64 `json:"overshoots"` // connections above a limit
	Stranded   int64 `json:"stranded"`   // clients that nobody served or ended, though there was time
	Lost       int64 `json:"lost"`       // ended otherwise than the scenario allows
	Ghosts     int64 `json:"ghosts"`     // connections to a server without a byte
	Overtaken  int64 `json:"overtaken"`  // came to a server later than the scenario's "fifo" allows
	Late       int64 `json:"late"`       // served, but later than the scenario's "late" allows
}

// Well says that nothing happened that must not.
func (v Verdict) Well() bool { return v == Verdict{} }
