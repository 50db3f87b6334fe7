package tally

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
)

// Outcome is how a connection ended, or a request on a kept connection, as the
// client saw it.
type Outcome uint8

const (
	Served    Outcome = iota // the whole response, and the end of the connection if it was due
	GaveUp                   // the client's patience ended before the first byte
	Reset                    // reset after the handshake
	Empty                    // a clean end before the first byte
	Truncated                // a clean end inside the response
	Excess                   // more bytes than the response has
	Wrong                    // the response to somebody else's request
	Refused                  // reset in answer to the SYN
	Timeout                  // not connected in time
	Overdue                  // neither served nor ended when the run ended
	Local                    // no port, no descriptor: the client's own fault
	outcomes
)

var outcomeNames = [outcomes]string{
	"served", "gave-up", "reset", "empty", "truncated", "excess", "wrong", "refused", "timeout", "overdue", "local",
}

func (o Outcome) String() string { return outcomeNames[o] }

// ParseOutcome is the other way round.
func ParseOutcome(name string) (Outcome, error) {
	for o := range outcomes {
		if outcomeNames[o] == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("outcome %q is not one of %q", name, outcomeNames)
}

// OutcomeOf sorts an error of a system call.
func OutcomeOf(err error) Outcome {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Reset
	case errors.Is(err, syscall.ETIMEDOUT):
		return Timeout
	}
	return Local
}

// Outcomes counts by outcome. In JSON it is an object without the zeros.
type Outcomes [outcomes]uint64

// Sum is how many there were.
func (c *Outcomes) Sum() (n uint64) {
	for _, k := range c {
		n += k
	}
	return n
}

// Lost is how many ended otherwise than served or as the client chose.
func (c *Outcomes) Lost() uint64 { return c.Sum() - c[Served] - c[GaveUp] }

// Add adds the counts of d.
func (c *Outcomes) Add(d *Outcomes) {
	for o := range d {
		c[o] += d[o]
	}
}

func (c Outcomes) MarshalJSON() ([]byte, error) {
	named := map[string]uint64{}
	for o, n := range c {
		if n > 0 {
			named[Outcome(o).String()] = n
		}
	}
	return json.Marshal(named)
}

func (c *Outcomes) UnmarshalJSON(text []byte) error {
	named := map[string]uint64{}
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	*c = Outcomes{}
	for name, n := range named {
		o, err := ParseOutcome(name)
		if err != nil {
			return err
		}
		c[o] = n
	}
	return nil
}
