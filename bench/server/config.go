package server

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"penstock/bench/span"
)

// Then is what follows a request.
type Then string

const (
	Stay   Then = "stay"   // a response; then the next request
	Close  Then = "close"  // a response, and the end
	Stream Then = "stream" // a response without an end
	Sink   Then = "sink"   // nothing: all that comes is received and counted
	Both   Then = "both"   // Stream and Sink at once
)

var thens = []Then{Stay, Close, Stream, Sink, Both}

// Config says what the server does with every connection, and what it checks.
type Config struct {
	// Listen are the members' addresses. Port 0 is any that is free.
	Listen []netip.AddrPort

	// Loops are event loops, a thread each, which share the members; 0 is 1.
	Loops int

	// Limit is how many connections a member may have at a time; 0: any number.
	// With a limit there is one loop, so that the count is exact.
	Limit int

	// HalfClose says that clients send their end right after their request, and
	// still want the response: it holds its slot until then. Without it an end
	// frees the slot for Limit, since a client that has gone looks the same.
	HalfClose bool

	Then Then // empty is Stay

	// Request and Response are sizes in bytes, the client's. A request has at
	// least a byte, and so has a response with Stay and Close; the others have
	// none of a size.
	Request, Response int

	// Delay is from a whole request to its response. Requests that come
	// meanwhile on the same connection are answered with it.
	Delay span.Dist

	// Does is what the server does over time, from Listen on.
	Does Schedule

	// ResetAfter is how many bytes of a response are sent before the connection
	// is reset, while Does says so. 0 resets in place of the response; Response
	// after all of it. What the client's window doesn't take at once is lost:
	// it surely gets no more, and no less up to some 16 kB.
	ResetAfter int

	// Fifo is what Order.Far tolerates: how much later the token of an overtaker
	// may be. Some is needed with several members or loops: between two
	// listeners the order is that in which the server came around to accept.
	Fifo time.Duration

	// Seed makes the delays repeatable.
	Seed uint64
}

const (
	mostMembers = 1000
	mostLoops   = 256
	mostLimit   = 1 << 20
	mostBytes   = 1 << 30
)

// Bind makes flags for all of it, with the defaults of the program.
func (c *Config) Bind(fs *flag.FlagSet) {
	*c = Config{Then: Stay, Request: 64, Response: 256, ResetAfter: 1, Seed: 1}
	fs.Func("listen", "`ADDR:PORT` to listen on; several times for several members; port 0 is any", c.addListen)
	fs.IntVar(&c.Loops, "loops", 0, "event loops, a thread each; 0 is 1")
	fs.BoolVar(&c.HalfClose, "half-close", c.HalfClose, "clients send their end after the request and still want the response (-work half): for -limit it holds its slot until then")
	fs.IntVar(&c.Limit, "limit", 0, "connections that each member may have at a time; more are counted as overshoots; 0: any number")
	fs.StringVar((*string)(&c.Then), "then", string(c.Then), "after a request: stay and answer, close after the answer, stream for ever, sink (never answer), or both of the latter")
	fs.IntVar(&c.Request, "request", c.Request, "bytes of a request")
	fs.IntVar(&c.Response, "response", c.Response, "bytes of a response")
	fs.Var(&c.Delay, "delay", "`SPAN` from a request to its response, as 5ms, exp:5ms or uniform:1ms..9ms")
	fs.TextVar(&c.Does, "does", c.Does, "`SCHEDULE` of what it does, as \"serve 1s, stall 200ms, serve\"; modes: "+strings.Join(modeNames[:], ", "))
	fs.IntVar(&c.ResetAfter, "reset-after", c.ResetAfter, "bytes of a response before a reset, in the mode reset")
	fs.DurationVar(&c.Fifo, "fifo", 0, "an overtaker whose token is later by more than this counts as far")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "of the delays")
}

func (c *Config) addListen(text string) error {
	if strings.HasPrefix(text, ":") {
		text = "0.0.0.0" + text
	}
	ap, err := netip.ParseAddrPort(text)
	if err != nil {
		return errors.New("an IP address and a port are needed, as 127.0.0.1:9001")
	}
	c.Listen = append(c.Listen, ap)
	return nil
}

// Check names every mistake: flag, value and what is allowed. It does not want
// an address, so that it can be asked before there is one; Listen does.
func (c *Config) Check() error {
	answers := c.Then != Stream && c.Then != Sink && c.Then != Both // with an end
	least := 0
	if answers {
		least = 1
	}
	errs := []error{
		within("-loops", c.Loops, 0, mostLoops),
		within("-limit", c.Limit, 0, mostLimit),
		within("-request", c.Request, 1, mostBytes),
		within("-response", c.Response, least, mostBytes),
		c.checkReset(answers),
	}
	mistake := func(wrong bool, format string, values ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, values...))
		}
	}
	mistake(c.Then != "" && !slices.Contains(thens, c.Then), "-then %q: stay, close, stream, sink or both", c.Then)
	mistake(c.Limit > 0 && c.Loops > 1, "-loops %d with -limit %d: a limit is exact with 1 loop only", c.Loops, c.Limit)
	mistake(c.Fifo < 0, "-fifo %v: 0s or more", c.Fifo)
	mistake(c.Then == Sink && !c.Delay.Zero(), "-delay %v with -then sink: there is no response to delay; leave one out", c.Delay)
	mistake(len(c.Listen) > mostMembers, "-listen %d times: at most %d", len(c.Listen), mostMembers)
	for i, ap := range c.Listen {
		mistake(ap.Port() != 0 && slices.Contains(c.Listen[:i], ap), "-listen %v twice: an address is one member", ap)
	}
	return errors.Join(errs...)
}

// checkReset sees that a reset, if any is planned, can come.
func (c *Config) checkReset(answers bool) error {
	most := mostBytes
	switch {
	case c.Does.Has(Resetting) && c.Then == Sink:
		return errors.New("-does reset with -then sink: there is no response to reset in")
	case c.Does.Has(Resetting) && answers:
		most = min(most, c.Response)
	}
	return within("-reset-after", c.ResetAfter, 0, most)
}

func within(flag string, value, least, most int) error {
	if value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("%s %d: %d to %d", flag, value, least, most)
}

// complete checks it and fills in what 0 stands for.
func (c *Config) complete() error {
	err := c.Check()
	if len(c.Listen) == 0 {
		err = errors.Join(err, errors.New("-listen is missing: an address, as 127.0.0.1:9001"))
	}
	if c.Loops == 0 {
		c.Loops = 1
	}
	if c.Then == "" {
		c.Then = Stay
	}
	return err
}
