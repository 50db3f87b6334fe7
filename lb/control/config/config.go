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

	Admin          string // "unix:PATH", "IP:PORT" or "off"
	Loops          int    // event loops; 0 means one a core
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
	Name            string
	Listen          netip.AddrPort // address invalid in "all addresses, both families": see Dual
	Dual            bool           // ":PORT": IPv6 wildcard that takes IPv4 too
	Pool            int            // index into Config.Pools
	ConnectionLimit int64          // 0 none
	Refuse          Refuse
	IdleTimeout     time.Duration // 0 never
	HalfClose       time.Duration // half-close-timeout; 0 never
	Keepalive       time.Duration // idle time before the first probe; 0 off
	UserTimeout     time.Duration // tcp-user-timeout; 0 the kernel's own
}

// Refuse is what a client sees that can't be served.
type Refuse uint8

const (
	RefuseReset Refuse = iota // RST
	RefuseClose               // FIN
	RefuseHTTP                // a minimal HTTP 503 with Retry-After, then FIN
)

// Pool is the members that serve one purpose, and their queue.
type Pool struct {
	Name            string
	Members         []Member
	ConnectionLimit int64         // 0 none
	Queue           bool          // queue-on-connection-limit
	QueueDepth      int64         // queue-depth-limit; 0 no limit of its own
	DepthCapMembers bool          // queue-depth-cap=members
	QueueTime       time.Duration // queue-time-limit, from accept; 0 never
	WhenDownQueue   bool          // when-down=queue
	WhenDownTime    time.Duration // when-down-time-limit; 0 never
	ReselectTries   int           // dials after the first one that failed
	ConnectTimeout  time.Duration
	KeepOnClose     bool // on-client-close=keep
}

// Member is one server address and port in one pool.
type Member struct {
	Address         netip.AddrPort
	ConnectionLimit int64 // 0 none
	State           State
	Node            int // index into Config.Nodes
}

// Node is one server address; its limit covers its members in all pools.
type Node struct {
	Address         netip.Addr
	ConnectionLimit int64 // 0 none
	State           State
}

// State is what an operator decided about a member or node.
type State uint8

const (
	Enabled  State = iota // takes all
	Disabled              // takes persisted clients only
	Offline               // takes nobody
)

var (
	refuseWords = []string{"reset", "close", "http-503"}
	stateWords  = []string{"enabled", "disabled", "offline"}
)

// String gives the word the refuse key takes.
func (r Refuse) String() string { return refuseWords[r] }

// String gives the word the state key takes.
func (s State) String() string { return stateWords[s] }
