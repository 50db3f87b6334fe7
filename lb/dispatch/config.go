package dispatch

import "net/netip"

// Tick is a moment: monotonic nanoseconds since some start. The zero Tick
// means never, or none.
type Tick int64

// VirtualID, PoolID, MemberID and NodeID are indices into Config's slices.
type (
	VirtualID uint16
	PoolID    uint16
	MemberID  uint16
	NodeID    uint16
)

// Config is the topology to begin with; see edit.go for how it changes. Limits
// of 0 mean no limit; times are nanoseconds.
type Config struct {
	Loops    int    // 1..65535
	Seed     uint64 // random, so that clients can't tell what their addresses hash to
	Virtuals []VirtualConfig
	Pools    []PoolConfig
	Members  []MemberConfig
	Nodes    []NodeConfig
}

// VirtualConfig is one virtual server.
type VirtualConfig struct {
	Pool     PoolID
	Limit    int64
	Persist  Prefix // source address persistence
	Timeout  Tick   // of a persistence record, since its last use
	Override bool   // override-connection-limit: for those persisted, all limits but the virtual server's give way
	Class    uint8  // queue-class, 0..7: the higher is served first
	Classes  []ClassRule
}

// ClassRule gives a source prefix a class of its own.
type ClassRule struct {
	Prefix netip.Prefix
	Class  uint8
}

// Prefix says which part of a source address counts: so many bits of an IPv4
// address, so many of an IPv6 address. The zero value is off.
type Prefix struct{ V4, V6 uint8 }

// PoolConfig is one pool. Its members are those that name it, in order.
type PoolConfig struct {
	Limit         int64
	Queue         bool  // queue-on-connection-limit
	Depth         int64 // waiters the pool's queue may hold; negative: any number
	DownDepth     int64 // ... while no member can be dialled, if Depth is 0
	QueueTime     Tick  // longest wait from arrival; 0: for ever
	WhenDownQueue bool  // when-down=queue
	WhenDownTime  Tick  // longest wait while no member is up; 0: for ever
	Tries         uint8 // reselect-tries: failed dials after which one more is allowed

	Mode        Mode
	MinActive   int    // min-active-members; 0: priority groups are not looked at
	SlowRamp    Tick   // slow-ramp-time
	PersistWait Tick   // longest wait for the member one is persisted to; 0: for ever
	Fair        Prefix // queue-fair
	CoDel       bool   // queue-discipline=codel
	RefuseEarly bool
	ClassAge    Tick // how much later each class lower counts as having arrived
}

// Mode is how a pool chooses among its members.
type Mode uint8

const (
	InTurn           Mode = iota // round-robin
	ByRatio                      // ratio
	LeastConnections             // least-connections
	BySource                     // source-hash
)

// MemberConfig is one member of one pool.
type MemberConfig struct {
	Pool     PoolID
	Node     NodeID
	Limit    int64
	Depth    int64 // waiters persisted to it that its queue may hold; negative: any number
	State    State
	Ratio    uint32 // 0 counts as 1
	Priority uint16 // priority-group: the higher is preferred
	Key      uint64 // names the server for source-hash: the same after it was removed and added
}

// NodeConfig is one server address.
type NodeConfig struct {
	Limit int64
	State State
}

// State is the operator's word on a member or node.
type State uint32

const (
	Enabled  State = iota // takes all
	Disabled              // takes only those persisted to it
	Offline               // takes nobody
)

// Path is where a connection goes, and the slot it holds there: one token of
// each of the virtual server, its pool, the member and its node.
type Path struct {
	Virtual VirtualID
	Member  MemberID
	// Probe says that the member is in back-off and this connection finds out
	// whether it is well again.
	Probe bool
	// Persisted says that the connection was persisted to the member.
	Persisted bool
}

// Kind is a decision.
type Kind uint8

const (
	Proceed Kind = iota // dial Path
	Wait                // parked as Waiter
	Refuse              // see Reason
)

// Reason says why a client is refused.
type Reason uint8

const (
	NotRefused Reason = iota
	QueueOff          // all is full and the pool does not queue
	Overflow          // the queue is as deep as allowed
	Expired           // its time in the queue ran out
	NoMember          // no member is up
	DialFailed        // as many dials failed as allowed
	Early             // its turn would not have come in time (refuse-early)
	Shed              // the queue has been slow for too long (codel)
	Flushed           // an operator emptied the queue
)

// Verdict is the answer to an arrival or to a failed dial.
type Verdict struct {
	Kind     Kind
	Reason   Reason
	Path     Path   // of Proceed
	Waiter   Waiter // of Wait
	Position int64  // of Wait: how many wait, this one included
}

// Outcome is how a wait ended: granted (Reason is NotRefused) with a slot on
// Path, or refused.
type Outcome struct {
	Conn   uint32 // as given to Arrive
	Reason Reason
	Path   Path
}
