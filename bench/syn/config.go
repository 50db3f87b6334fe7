package syn

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"penstock/bench/wire"
)

// Work is what handshakes are opened for.
type Work string

const (
	Hold  Work = "hold"  // as many as Flows stand to the end; who is answered asks, if a request has a size, and stays
	Short Work = "short" // as many stand; who is answered asks, gets the response, ends, and another one comes
	Keep  Work = "keep"  // as many stand; when all are connected they ask, one after the other, again and again, and stay
	Flood Work = "flood" // they come at the rate, once, and never answer: their sources, at random, don't exist
)

// End is how a connection ends that was served.
type End string

const (
	Fin   End = "fin"   // in order, when the server's end has come
	Reset End = "reset" // by a reset, as soon as the response is whole
)

// Leave is how a client goes whose handshake was never answered.
type Leave string

const (
	Silent  Leave = "silent"
	ByReset Leave = "reset"
)

// Config says what a generator does. Bind makes flags of it, with the defaults
// of the program; Check says what is wrong with one.
type Config struct {
	Device string         // on which the target is a neighbour
	Target netip.AddrPort // IPv4
	From   netip.Prefix   // addresses of the clients; its first and last are none

	Work  Work
	Flows int // handshakes, or connections, at a time; not of a flood
	Rate  int // that are opened in a second; 0: as fast as the device takes them
	Asks  int // keep: requests in a second, of all together

	// Again is when a SYN that nobody answers is sent again.
	Again Schedule

	// Leave is how who waits gives up at the end: without a word, as clients do,
	// or by a reset, as those do that are killed. So do connections that are kept.
	Leave Leave

	// Sizes in bytes, as those of package client: the server's. Without a
	// request nothing is asked, and the connection ends at once.
	Request, Response int
	End               End

	// What ends in the time For after Warm is counted; these begin when Flows
	// have been opened once, at once in a flood, or when all are connected that are
	// kept. Of the latter those who have not asked by then do so afterwards. Hold
	// ends with its context. Who is connected but was not served for Drain in the
	// end is overdue.
	Warm, For, Drain time.Duration

	Seed uint64 // of sequence numbers and timestamps
}

// Bind binds the flags to the fields and gives these their defaults.
func (c *Config) Bind(fs *flag.FlagSet) {
	c.From = netip.MustParsePrefix("198.19.0.0/16")
	fs.StringVar(&c.Device, "device", "", "network device on which the target is a neighbour")
	fs.TextVar(&c.Target, "target", c.Target, "`ADDRESS` and port to connect to")
	fs.TextVar(&c.From, "from", c.From, "`PREFIX` of the clients' addresses")
	fs.StringVar((*string)(&c.Work), "work", string(Short), "what handshakes are for: hold, short, keep or flood")
	fs.IntVar(&c.Flows, "flows", 1000, "handshakes at a time; not of a flood")
	fs.IntVar(&c.Rate, "rate", 50_000, "opened a second; 0: as fast as the device takes them")
	fs.IntVar(&c.Asks, "asks", 10_000, "keep: requests a second, of all connections together")
	fs.StringVar((*string)(&c.Again), "again", string(Linux), "when a SYN is sent again: "+strings.Join(scheduleNames(), ", "))
	fs.StringVar((*string)(&c.Leave), "leave", string(Silent), "how who waits gives up at the end: silent or reset")
	fs.IntVar(&c.Request, "request", 64, "`BYTES` of a request; 0 asks nothing")
	fs.IntVar(&c.Response, "response", 256, "`BYTES` of a response")
	fs.StringVar((*string)(&c.End), "end", string(Fin), "how a connection ends that was served: fin or reset")
	fs.DurationVar(&c.Warm, "warm", 500*time.Millisecond, "time before counting")
	fs.DurationVar(&c.For, "for", 3*time.Second, "time to count; hold: until ended")
	fs.DurationVar(&c.Drain, "drain", time.Second, "who is connected and unserved for so long at the end is overdue")
	fs.Uint64Var(&c.Seed, "seed", 1, "of sequence numbers and timestamps")
}

// Bounds of a Config.
const (
	MostFlows = 16_000_000
	MostRate  = 10_000_000
	MostBytes = 1400 // of a request: one frame
	MostTime  = time.Hour
)

// Check returns every mistake, joined. That there is no device or target is
// none: in a scenario they are known later.
func (c *Config) Check() error {
	var errs []error
	want := func(ok bool, flag string, value any, allowed string) {
		if !ok {
			errs = append(errs, fmt.Errorf("-%s %v: %s", flag, value, allowed))
		}
	}
	between := func(flag string, value, least, most int) {
		want(value >= least && value <= most, flag, value, fmt.Sprintf("must be from %d to %d", least, most))
	}
	want(slices.Contains([]Work{Hold, Short, Keep, Flood}, c.Work), "work", fmt.Sprintf("%q", c.Work), "must be hold, short, keep or flood")
	want(slices.Contains([]End{Fin, Reset}, c.End), "end", fmt.Sprintf("%q", c.End), "must be fin or reset")
	want(slices.Contains(scheduleNames(), string(c.Again)), "again", fmt.Sprintf("%q", c.Again), "must be "+strings.Join(scheduleNames(), ", "))
	want(slices.Contains([]Leave{"", Silent, ByReset}, c.Leave), "leave", fmt.Sprintf("%q", c.Leave), "must be silent or reset")
	between("flows", c.Flows, 1, MostFlows)
	between("rate", c.Rate, 0, MostRate)
	if c.Work == Keep {
		between("asks", c.Asks, 1, MostRate)
		want(c.Request > 0 && c.Response > 0, "request", c.Request, "and a response are needed to ask")
	}
	between("request", c.Request, 0, MostBytes)
	between("response", c.Response, 0, 1<<30)
	for flag, d := range map[string]time.Duration{"warm": c.Warm, "for": c.For, "drain": c.Drain} {
		want(d >= 0 && d <= MostTime, flag, d, fmt.Sprintf("must be from 0s to %v", MostTime))
	}
	want(ours(c.From), "from", c.From, "must be in 198.18.0.0/15, or private, and have at least 4 addresses")
	if c.Target.IsValid() {
		a := c.Target.Addr()
		want(a.Is4() && c.Target.Port() > 0 && wire.Harmless(netip.PrefixFrom(a, 32)), "target", c.Target, "must be an address in 198.18.0.0/15, or a private one, and a port")
		want(!c.From.Contains(a), "target", c.Target, fmt.Sprintf("must not be in %v, where the clients are", c.From))
	}
	return errors.Join(errs...)
}

// complaint is Check, and that there is somewhere to send to.
func (c *Config) complaint() error {
	err := c.Check()
	if c.Device == "" || !c.Target.IsValid() {
		err = errors.Join(errors.New("-device and -target are needed: where, and the address and port to connect to"), err)
	}
	return err
}

// ours says that a prefix is nobody's on the Internet, and is for some hosts.
func ours(p netip.Prefix) bool { return wire.Harmless(p) && p.Bits() <= 30 }
