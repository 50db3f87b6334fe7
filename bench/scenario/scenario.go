package scenario

import (
	"slices"
	"strings"
	"time"

	"penstock/bench/client"
	"penstock/bench/reflect"
	"penstock/bench/result"
	"penstock/bench/server"
	"penstock/bench/syn"
	"penstock/bench/tally"
)

// Scenario is a work that proxies do and are judged by, as a file tells it.
type Scenario struct {
	Name  string
	About string // a line
	Why   string // the comment that the file begins with: why it is there, what to look at

	// Proxies run it unless others are asked for. The first is compared with
	// the others. None with a Program.
	Proxies []string

	Rounds  int
	Vary    string // what Case.X is, as "clients waiting"; empty if there is one case only
	Metrics []result.Metric
	Goals   []result.Goal

	Cases []Case // at least one
}

// Case is a scenario with its variables in place.
type Case struct {
	Name string // empty if the file names no cases
	X    float64

	// Copies are proxies at a time, each with Servers and Clients of its own:
	// one proxy holds no more than RLIMIT_NOFILE allows.
	Copies  int
	Members int // addresses of each server, each a member behind the proxy
	Loops   int // of each proxy: loops, threads or workers

	// Link says that clients reach a proxy by a network device, a TAP or a veth, and
	// Links that it reaches servers by another one: see package stage. With Links there
	// is Link.
	Link, Links bool

	// Servers and Clients are those of one copy. Both are empty if there is a
	// Program: the arguments of penbench that print the figures of this case.
	Servers []Server
	Clients []Client
	Program []string

	// Peer holds more lines for the configuration of a proxy, by program; see
	// More.
	Peer map[string][]string

	// Without are proxies that can't do this case.
	Without []string

	// Event happens to each proxy again and again while it is measured; 0 is
	// never. Limits are what members are limited to after the first event, the
	// second and so on, and then from the first again; none: nothing changes.
	Every  time.Duration
	Event  string // "reload"
	Limits []int

	// Memory is "parked" or "pairs" where the memory and descriptors of the
	// proxy are measured, for each client that waits or that is served. Later is
	// the same for holders that come last; see Late.
	Memory, Later string

	Warm, For time.Duration // of clients: before and while they count

	// Settle is how long servers may take to be without a connection after the
	// clients ended; what is left then is stranded.
	Settle time.Duration

	// Allow are the outcomes besides served that are not losses.
	Allow []tally.Outcome

	// Ghosts is how many connections without a byte a server may see in a
	// round; math.MaxInt if that is not judged. See the directive.
	Ghosts int

	Lines []string // as in the file, without comments, variables in place, and this case's alone
}

// Server is one server process. Its Args are flags of "penbench server" without
// -listen, and Config is what they say. Its Limit is also that of the member in
// the proxy.
//
// With Reflect it is one of "penbench reflect", and its Args are flags of that,
// without -device and -listen; Reflect is what they say, and Config what of it a
// server has as well.
type Server struct {
	Name    string
	Args    []string
	Config  server.Config
	Reflect *reflect.Config
}

// Client is Count client processes that do the same. Their Args are flags of
// "penbench client" without -target, -warm and -for, and Config is what they
// say.
//
// With Syn it is one process of "penbench syn", and its Args are flags of that,
// without -device too; Syn is what they say, and Config what of it a client has as
// well. Who floods is as a Short one without flows.
type Client struct {
	Name   string
	Count  int
	Args   []string
	Config client.Config
	Syn    *syn.Config
}

// Late says that a client's process comes when all others have done their work: it
// holds, and stands behind one that does not.
func (c *Case) Late(client int) bool {
	return c.Clients[client].Holds() && slices.ContainsFunc(c.Clients[:client], func(o Client) bool { return !o.Holds() })
}

// Holds says that it does nothing but be there.
func (c *Client) Holds() bool { return c.Config.Work == client.Hold }

// Keeps says that it is a generator that has all connected before it begins.
func (c *Client) Keeps() bool { return c.Syn != nil && c.Syn.Work == syn.Keep }

// Stays says that its connections are open when it has gone.
func (c *Client) Stays() bool { return c.Keeps() && c.Syn.Leave != syn.ByReset }

// More are the lines of the scenario for a proxy: those of its program, which
// all ways of it ("haproxy-splice") share.
func (c *Case) More(proxy string) []string {
	program, _, _ := strings.Cut(proxy, "-")
	return c.Peer[program]
}

// Variable is a value for "$Name" in a file.
type Variable struct{ Name, Value string }
