package proxy

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxyheader"
	"penstock/stack/tap"
)

// Config says what to proxy at the start. Indices are those of Dispatch, and
// the numbers of the objects afterwards.
type Config struct {
	Dispatch dispatch.Config // Loops included
	Virtuals []Virtual
	Pools    []Pool
	Members  []netip.AddrPort

	// MaxDescriptors is how many descriptors connections may hold, pipes and
	// the listeners of Virtuals not included; see kernel.Budget.
	MaxDescriptors int
	MaxClients     int // client connections at once; 0: as descriptors allow
	// Tap is the device for virtual servers with Tap; nil: there are none.
	Tap     *tap.Config
	devices *tap.Devices // nil: those that Tap names; tests have their own
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

	// Tap: Listen is an address on the TAP device, and clients are parked before
	// their handshake is answered.
	Tap      bool
	SynProof tap.Proof // see tap.Virtual
	SynShare int
	Forward  bool // see tap.Virtual
	SNAT     []netip.Addr

	// Pool is where its clients go, as the dispatcher has it. New takes it
	// from Config.Dispatch.
	Pool dispatch.PoolID

	// AcceptProxy makes clients begin with a PROXY header, within
	// ProxyHeaderTimeout (0: whenever), whose source is the client from then
	// on. Who connects from outside of TrustedProxies is reset; none are
	// trusted if it is empty.
	AcceptProxy        bool
	TrustedProxies     []netip.Prefix
	ProxyHeaderTimeout time.Duration
}

// trusts says whether a PROXY header from this address is believed.
func (v *Virtual) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(v.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Refuse is what a client sees that can't be served.
type Refuse uint8

const (
	Reset   Refuse = iota // RST
	Close                 // FIN
	HTTP503               // a minimal response, then FIN
	Drop                  // nothing; only with Tap
)

// OnClose says which parked clients have left, of those that closed their side.
type OnClose uint8

const (
	LeaveBare  OnClose = iota // who sent nothing before
	LeaveNever                // none: what they asked for is served
	LeaveAny                  // all, as HAProxy's abortonclose
)

// Pool is how a pool's servers are dialled and its parked clients treated.
type Pool struct {
	ConnectTimeout time.Duration
	OnClose        OnClose
	SendProxy      proxyheader.Version
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
	Left     string // how it left the queue, see leftAs; "-" if never in it
	Code     Code
	Closer   string // client, server, proxy

	// Of a connection that was forwarded, else zeros: packets that were passed on, the
	// SYN too, modulo 2^32. A large one that is cut later counts once.
	PacketsUp, PacketsDown uint32
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
	ServerDown // its server went down, or was removed, and is not waited for
	NoHeader   // no PROXY header, a wrong one, or from who is not trusted

	// Ways of QueueFull: what they have in common is the letters.
	RefusedEarly // the wait would have been too long: not even queued
	Shed         // out of the queue, which was too slow for too long

	Flushed // the operator emptied the queue
)

var codes = [...]string{"--", "SC", "SR", "CR", "CQ", "SF", "QF", "QT", "DN", "IT", "HT", "DR", "TO", "SD", "PP", "QF", "QF", "QX"}

// String returns the two letters of the log. Codes that share them differ in
// Ended.Left.
func (c Code) String() string { return codes[c] }

var refusalCode = [...]Code{
	dispatch.QueueOff: QueueFull, dispatch.Overflow: QueueFull, dispatch.Expired: QueueTime,
	dispatch.NoMember: NoMember, dispatch.DialFailed: DialFailed,
	dispatch.Early: RefusedEarly, dispatch.Shed: Shed, dispatch.Flushed: Flushed,
}
