package proxy

import (
	"log/slog"
	"net/netip"
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
)

// Config says what to proxy. Indices are those of Dispatch.
type Config struct {
	Dispatch dispatch.Config // Loops included
	Virtuals []Virtual
	Pools    []Pool
	Members  []netip.AddrPort

	// MaxDescriptors is how many descriptors connections may hold, pipes not
	// included; see kernel.Budget.
	MaxDescriptors int
	MaxClients     int // client connections at once; 0: as descriptors allow
	// MaxPipes is how many pipes a loop may open for splicing, two
	// descriptors each.
	MaxPipes int

	Log   *slog.Logger
	Ended func(loop int, e *Ended) // called at each connection's end, on its loop, for the time of the call; may be nil
}

// Virtual is how a virtual server treats its clients.
type Virtual struct {
	Listen      kernel.Address
	Options     kernel.Options
	IdleTimeout time.Duration // no byte either way; 0 never
	HalfClose   time.Duration // no byte after one side's FIN; 0 never
	Refuse      Refuse
}

// Refuse is what a client sees that can't be served.
type Refuse uint8

const (
	Reset   Refuse = iota // RST
	Close                 // FIN
	HTTP503               // a minimal response, then FIN
)

// Pool is how a pool's servers are dialled and its parked clients treated.
type Pool struct {
	ConnectTimeout time.Duration
	KeepOnClose    bool // a parked client that sends a bare FIN stays
}

// Ended is what there is to say of a connection when it is over.
type Ended struct {
	Accepted time.Duration // how long ago
	Client   netip.AddrPort
	Virtual  int
	Member   int // -1: no server was dialled
	Wait     time.Duration
	Connect  time.Duration
	Up, Down uint64 // bytes from the client, from the server
	Position int64  // when parked: how many waited, itself included; 0: never parked
	Left     string // how it left the queue: served, expired, abandoned, refused, failed, cut; "-" if never in it
	Code     Code
	Closer   string // client, server, proxy
}

// Code says how a connection ended; see SEMANTICS.
type Code uint8

const (
	Served    Code = iota // the client closed
	ServerEnd             // the server closed
	ServerReset
	ClientReset
	ClientQuit // the client left while parked
	DialFailed
	QueueFull
	QueueTime
	NoMember
	Idle       // idle-timeout
	HalfClosed // half-close-timeout
	Drained    // cut at the end of drain-time
	PeerLost   // the client acknowledged nothing for too long
)

var codes = [...]string{"--", "SC", "SR", "CR", "CQ", "SF", "QF", "QT", "DN", "IT", "HT", "DR", "TO"}

// String returns the two letters of the log.
func (c Code) String() string { return codes[c] }

var refusalCode = [...]Code{
	dispatch.QueueOff: QueueFull, dispatch.Overflow: QueueFull, dispatch.Expired: QueueTime,
	dispatch.NoMember: NoMember, dispatch.DialFailed: DialFailed,
}
