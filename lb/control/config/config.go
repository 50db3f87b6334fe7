package config

import (
	"log/slog"
	"net/netip"
	"time"
)

// MaxLimit is the largest connection or queue limit that can be set. Limits
// are counted in tokens, and 2^40 of them stand for "no limit".
const MaxLimit = 1<<40 - 1

// Config is everything a user can set. Parse makes it, and has validated it:
// names resolve, limits are not negative, addresses are unique.
type Config struct {
	Virtuals []Virtual
	Pools    []Pool
	Nodes    []Node // explicit and implied ones: one for each server IP

	Tap       *Tap // the device that clients of virtual servers with FrontTap are on; nil none
	ServerTap *Tap // the one that servers are behind which connections are forwarded to; nil: Tap

	Admin          string // "unix:PATH", "IP:PORT" or "off"
	AdminTokenFile string // holds what a client of Admin has to know; "" none
	Loops          int    // event loops; 0 means one a core
	Cores          int    // of this machine, as Env has it; 0 not known
	MaxConnections int    // client connections at once; 0 means what RLIMIT_NOFILE allows
	LogLevel       slog.Level
	LogFormat      string        // "text" or "json"
	AccessLog      string        // a file's path, "stderr" or "off"
	DrainTime      time.Duration // after SIGTERM, until the rest is cut
	Demo           bool          // built-in demo servers, for a first look

	FlagFile string   // where -flagfile was read from, to read it again; "" none
	Warnings []string // valid, but probably not what was meant; one line each
}

// Virtual is a virtual server: an address that clients connect to.
type Virtual struct {
	ID              int // the dispatcher's number for it; -1 not known yet
	Name            string
	Listen          netip.AddrPort // address invalid in "all addresses, both families": see Dual
	Dual            bool           // ":PORT": IPv6 wildcard that takes IPv4 too
	Pool            int            // index into Config.Pools
	ConnectionLimit int64          // 0 none
	Front           Front
	Transport       Transport     // Forwarded only with FrontTap
	SNAT            []netip.Addr  // that stand for clients before servers, if Forwarded; none: clients stand for themselves
	Refuse          Refuse        // RefuseReset or RefuseDrop with FrontTap; no RefuseDrop without
	IdleTimeout     time.Duration // 0 never
	HalfClose       time.Duration // half-close-timeout; 0 never
	Keepalive       time.Duration // idle time before the first probe; 0 off
	UserTimeout     time.Duration // tcp-user-timeout; 0 the kernel's own

	Persist        Prefix        // clients that belong to one member together
	PersistTimeout time.Duration // since the last connection; more than 0
	OverrideLimit  bool          // override-connection-limit, for persisted clients

	AcceptProxy        bool           // accept-proxy-protocol
	TrustedProxies     []netip.Prefix // who may send a PROXY header; not empty if AcceptProxy
	ProxyHeaderTimeout time.Duration  // more than 0

	QueueClass     uint8       // 0 to MaxClass; the higher is served first
	QueueClassFrom []ClassRule // the first that matches decides; longest prefixes first

	SynProof SynProof // with FrontTap
	SynShare int      // of the queue, that unproven clients of one prefix may fill: percent; 0 all of it
}

// Tap is a device that clients or servers are on, or both. One with ServerSide
// has Device, Addresses, Gateways, MAC and MTU, and nothing else.
type Tap struct {
	Device    string
	Side      Side           // ClientSide or ServerSide if there are two
	Addresses []netip.Prefix // ours, besides those of virtual servers; not masked
	Gateways  []netip.Addr   // where servers are that are in none of these networks; one of each family at most
	MAC       [6]byte        // ours; zero: made from the device's name
	MTU       int            // 0 as the device has it

	MSS           int // 0 what the MTU allows
	RACK          bool
	Congestion    Congestion
	TimeWait      time.Duration // more than 0
	ReceiveBuffer int           // bytes a connection, at most
	SendBuffer    int           // bytes a connection, at most
	SynTable      int           // handshakes that a loop keeps parked, at most
	FlowTable     int           // forwarded connections of a loop, at most
}

// MaxClass is the highest queue-class.
const MaxClass = 7

// Prefix tells clients apart by the first bits of their address.
type Prefix struct {
	On bool
	V4 uint8 // 1 to 32; 0 if not On
	V6 uint8 // 1 to 128; 0 if not On
}

// ClassRule gives a class to clients by their address.
type ClassRule struct {
	Prefix netip.Prefix
	Class  uint8
}

// Pool is the members that serve one purpose, and their queue.
type Pool struct {
	ID              int // the dispatcher's number for it; -1 not known yet
	Name            string
	Members         []Member
	Mode            Mode          // load-balancing-mode
	ConnectionLimit int64         // 0 none
	Queue           bool          // queue-on-connection-limit
	QueueDepth      int64         // queue-depth-limit; 0 no limit of its own
	DepthCapMembers bool          // queue-depth-cap=members
	QueueTime       time.Duration // queue-time-limit, from accept; 0 never
	WhenDownQueue   bool          // when-down=queue
	WhenDownTime    time.Duration // when-down-time-limit; 0 never
	ReselectTries   int           // dials after the first one that failed
	ConnectTimeout  time.Duration
	OnClose         OnClose // on-client-close

	SlowRamp    time.Duration // slow-ramp-time; 0 off
	MinActive   int           // min-active-members; 0: priority groups are off
	ServiceDown ServiceDown   // service-down-action
	SendProxy   SendProxy     // send-proxy-protocol

	Monitor         Monitor       // never MonitorDefault once it is parsed
	MonitorInterval time.Duration // more than 0
	MonitorTimeout  time.Duration // more than 0
	MonitorSend     string        // a path to GET if it begins with "/", else what to send; not escaped
	MonitorRecv     string        // what an answer has to contain; "" any with status 200 to 399; not escaped
	asked           asked         // what of these was given
	snat            int           // SNAT addresses that its connections take ports of; 0: not all of them take one

	PersistWait time.Duration // at the member, before the pool's queue; 0 for ever
	Fair        Prefix        // queue-fair
	Discipline  Discipline    // queue-discipline
	RefuseEarly bool          // refuse-early: who can't be served in time
	ClassAge    time.Duration // queue-class-age: head start of each class over the next lower; more than 0
}

// asked is what was given for keys whose value others decide if nobody does.
type asked struct {
	monitor        Monitor       // MonitorDefault if nobody did
	monitorTimeout time.Duration // 0 if nobody did
}

// Member is one server address and port in one pool.
type Member struct {
	ID              int // the dispatcher's number for it; -1 not known yet
	Address         netip.AddrPort
	ConnectionLimit int64 // 0 none
	Ratio           int   // 1 to 65535; 0 not set: its node's
	PriorityGroup   int   // 0 to 65535; the higher is preferred
	State           State
	Node            int // index into Config.Nodes
}

// Node is one server address; its limit covers its members in all pools.
type Node struct {
	ID              int // the dispatcher's number for it; -1 not known yet
	Address         netip.Addr
	ConnectionLimit int64 // 0 none
	Ratio           int   // 1 to 65535, for members without one of their own
	State           State
	Implied         bool // nobody gave it: it goes with its last member
}
