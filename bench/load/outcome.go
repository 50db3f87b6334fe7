package load

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
	Reset                    // reset after the handshake
	Empty                    // a clean end before the first byte
	Truncated                // a clean end inside the response
	Excess                   // more bytes than the response has
	Refused                  // reset in answer to the SYN
	Timeout                  // not connected in time
	Overdue                  // no whole response a second after it was asked for, at the end of the run
	Local                    // no port, no descriptor: the client's own fault
	outcomes
)

var outcomeNames = [outcomes]string{
	"served", "reset", "empty", "truncated", "excess", "refused", "timeout", "overdue", "local",
}

func (o Outcome) String() string { return outcomeNames[o] }

// outcomeOf sorts an error of a system call.
func outcomeOf(err error) Outcome {
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

// Lost is how many were not served.
func (c *Outcomes) Lost() (n uint64) {
	for o, k := range c {
		if Outcome(o) != Served {
			n += k
		}
	}
	return n
}

func (c *Outcomes) add(d *Outcomes) {
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
	for o := range c {
		name := Outcome(o).String()
		c[o] = named[name]
		delete(named, name)
	}
	for name := range named {
		return fmt.Errorf("unknown outcome %q", name)
	}
	return nil
}
