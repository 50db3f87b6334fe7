package client

import (
	"net/netip"
	"time"

	"penstock/bench/arrival"
	"penstock/bench/sock"
	"penstock/bench/span"
)

// Work is what each connection does.
type Work string

const (
	Short Work = "short" // connect, request, response, the server's end
	Half  Work = "half"  // as short, but the client sends its end after the request
	Keep  Work = "keep"  // connect; request, response, and again; the client ends it
	Bulk  Work = "bulk"  // connect, request, then without end one way or both
	Hold  Work = "hold"  // connect, a request if it has a size, then nothing
)

// Direction is which way bulk goes.
type Direction string

const (
	Down Direction = "down" // the client receives
	Up   Direction = "up"   // it sends; the server is not expected to answer
	Both Direction = "both"
)

// GiveUp is how a client leaves whose patience is over.
type GiveUp string

const (
	Close   GiveUp = "close"   // in order
	Reset   GiveUp = "reset"   // by a reset
	Silence GiveUp = "silence" // as if its machine had vanished: it sends nothing more and acknowledges nothing
)

// Config says what a client does. Bind makes flags of it, with the defaults of
// the program; Check says what is wrong with one.
type Config struct {
	Target    netip.AddrPort
	Work      Work
	Direction Direction // bulk only; none is down

	// Flows are the connections at a time. Closed model: each begins again
	// when it has ended; 0 is 64. Open model: no more than that; who is due
	// then waits for one to end, and is still timed from when it was due. 0 is
	// what the limit of descriptors allows.
	Flows int
	Loops int // event loops, a thread each; 0 is 1

	// Sizes in bytes, the same at client and server: nothing on the wire says
	// where a message ends. No request in Hold: connect only. No response in
	// Hold: none is expected. There a connection stands once its request is
	// sent, and counts as served if it does so to the end.
	//
	// A request of at least 8 bytes begins with its token: the time it was due
	// or begun, of CLOCK_MONOTONIC in ns, big-endian. A response of at least 8
	// bytes must begin with the same.
	Request, Response int

	// Arrivals makes the model open, for short, half and keep. Rates are of
	// this process.
	Arrivals arrival.Schedule

	// Keep: so many requests on a connection, then another one; 0 is without
	// end, in the closed model. Between a response and the next request the
	// client thinks.
	Requests int
	Think    span.Dist

	// Patience is how long a client waits for the first byte of the response,
	// from when its request was due or begun; 0 is for ever. Who gave up by
	// Silence keeps the descriptor, and its place among Flows, to the end.
	Patience span.Dist
	GiveUp   GiveUp // none is close

	// ReadRate is the most a connection receives, in bytes a second; 0 is all
	// that comes.
	ReadRate int

	// What is due (open model) or ends (closed) in the time For after Warm is
	// counted. With Total, all counts from the start, and the run ends after as
	// many connections, or requests (closed keep). Hold counts from the start
	// and ends with its context only.
	//
	// At the end what is unanswered counts as overdue if it has been for Drain;
	// the open model waits so long for it. 0 is 1 s. Nobody new comes
	// meanwhile, so where the newest is not served last, or clients give up,
	// more are served of those counted than if it went on: see Sustain.
	Warm, For, Drain time.Duration

	// Sustain lets clients go on to come for Drain, so that who is counted has
	// competition to the end. Open model, without Total. Those who came for that
	// only are not counted, and are waited for as long again.
	Sustain bool

	Total int

	Rate           int           // closed: the first connections are opened at this rate a second; 0 is 5000
	ConnectTimeout time.Duration // 0 is 5 s
	Late           time.Duration // served later than this counts as late; 0: nothing does

	// Sources addresses from Source on are the client's, used in turn. One has
	// some 28,000 ports for one target, and finding a free one among many used
	// ones costs time, so use several for many connections. No address, or 0 of
	// them: the kernel's choice.
	Source  netip.Addr
	Sources int

	Seed uint64 // of all that is random

	// Watch are processes whose CPU time is taken over the measured time.
	Watch []int
}

// Open says that the model is open.
func (c *Config) Open() bool { return c.Arrivals.Phases() > 0 }

// tokens says that requests bear one; answered, that responses do.
func (c *Config) tokens() bool   { return c.Request >= tokenSize }
func (c *Config) answered() bool { return c.tokens() && c.Response >= tokenSize }

const tokenSize = 8

// spare descriptors are left for all but connections.
const spare = 32

// complete puts what stands for zero values in their place.
func (c *Config) complete() {
	set(&c.Direction, Down)
	set(&c.GiveUp, Close)
	set(&c.Loops, 1)
	set(&c.Drain, time.Second)
	set(&c.Rate, 5000)
	set(&c.ConnectTimeout, 5*time.Second)
	if !c.Open() {
		set(&c.Flows, 64)
	} else if c.Flows == 0 {
		c.Flows = max(sock.Descriptors()-spare, 1)
	}
	if c.Loops = min(c.Loops, c.Flows); c.Total > 0 {
		c.Loops = min(c.Loops, c.Total) // each loop gets a share, and a share of 0 would be no total
	}
}

func set[T comparable](v *T, unset T) {
	var zero T
	if *v == zero {
		*v = unset
	}
}

// share is the part of the numbers that loop i gets.
func (c Config) share(i int) Config {
	part := func(n int) int { return n/c.Loops + (c.Loops-1-i+n%c.Loops)/c.Loops }
	c.Flows, c.Total = part(c.Flows), part(c.Total)
	return c
}

// sources are the client's addresses: fewer than Sources if there are no more.
func (c *Config) sources() (ips []netip.Addr) {
	for ip := c.Source; len(ips) < c.Sources && ip.IsValid(); ip = ip.Next() {
		ips = append(ips, ip)
	}
	return ips
}
