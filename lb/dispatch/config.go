package dispatch

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

// Config is the topology. Limits of 0 mean no limit; times are nanoseconds.
type Config struct {
	Loops    int // 1..65535
	Virtuals []VirtualConfig
	Pools    []PoolConfig
	Members  []MemberConfig
	Nodes    []NodeConfig
}

// VirtualConfig is one virtual server.
type VirtualConfig struct {
	Pool  PoolID
	Limit int64
}

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
}

// MemberConfig is one member of one pool.
type MemberConfig struct {
	Pool  PoolID
	Node  NodeID
	Limit int64
	Depth int64 // waiters persisted to it that its queue may hold; negative: any number
	State State
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
