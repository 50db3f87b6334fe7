package load

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Work is what each of the client's connections does.
type Work string

const (
	Short Work = "short" // connect, request, response, the server's close; again
	Keep  Work = "keep"  // connect once; request, response; again
	Bulk  Work = "bulk"  // connect once, request, receive for ever
	Idle  Work = "hold"  // connect once, a request if it has a size, then nothing; see Hold
)

// Config says what the client does.
type Config struct {
	Target netip.AddrPort
	Work   Work

	// Sources are the client's addresses, used in turn. One address has some
	// 28,000 ports for one target, and finding a free one among many used ones
	// costs time, so use several for many connections. None: the kernel's choice.
	Sources []netip.Addr

	Flows int // connections at a time
	Loops int // event loops, a thread each; 0 is 1

	// Sizes in bytes, the same at client and server: nothing on the wire says
	// where a message ends. No request in Hold: connect only.
	Request, Response int

	// Run counts from Warm on, and for the time For. With Total, it counts from
	// the start, and ends after as many connections (Short) or requests (Keep).
	Warm, For time.Duration
	Total     int

	Rate           int           // Hold: connections opened a second; 0 is 5000
	ConnectTimeout time.Duration // 0 is 5 s

	// Watch are processes whose CPU time is taken at the two ends of the same
	// span of time in which the work is counted.
	Watch []int
}

func (c *Config) complete() error {
	set(&c.Loops, 1)
	set(&c.Rate, 5000)
	set(&c.ConnectTimeout, 5*time.Second)
	if c.Loops = min(c.Loops, c.Flows); c.Total > 0 {
		c.Loops = min(c.Loops, c.Total) // each loop gets a share, and a share of 0 would be no total
	}
	var errs []error
	if !c.Target.IsValid() {
		errs = append(errs, errors.New("no target"))
	}
	if c.Flows < 1 || c.Request < 0 || c.Response < 0 || c.Total < 0 {
		errs = append(errs, errors.New("flows must be at least 1, sizes and total not negative"))
	}
	switch c.Work {
	case Short, Keep, Bulk:
		if c.Request < 1 || c.Response < 1 && c.Work != Bulk {
			errs = append(errs, fmt.Errorf("%s needs a request and a response of at least a byte", c.Work))
		}
		if c.Total == 0 && c.For <= 0 || c.Total > 0 && c.Work == Bulk {
			errs = append(errs, errors.New("a time is needed, or a total for short and keep"))
		}
	case Idle:
	default:
		errs = append(errs, fmt.Errorf("work %q is not one of short, keep, bulk, hold", c.Work))
	}
	return errors.Join(errs...)
}

// Then is what the server does after a response.
type Then string

const (
	Stay   Then = "stay"   // wait for the next request
	Close  Then = "close"  // close the connection
	Stream Then = "stream" // send for ever, in place of a response
)

// ServerConfig says what the server does with every connection.
type ServerConfig struct {
	Listen            netip.AddrPort
	Loops             int // event loops, each with a listener of its own; 0 is 1
	Request, Response int // bytes, as the client's
	Then              Then
}

func (c *ServerConfig) complete() error {
	set(&c.Loops, 1)
	switch {
	case !c.Listen.IsValid():
		return errors.New("no address to listen on")
	case c.Request < 1 || c.Response < 1 && c.Then != Stream:
		return errors.New("a request and a response of at least a byte are needed")
	case c.Then != Stay && c.Then != Close && c.Then != Stream:
		return fmt.Errorf("then %q is not one of stay, close, stream", c.Then)
	}
	return nil
}

func set[T comparable](v *T, unset T) {
	var zero T
	if *v == zero {
		*v = unset
	}
}
