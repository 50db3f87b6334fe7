package config

// Refuse is what a client sees that can't be served.
type Refuse uint8

const (
	RefuseReset Refuse = iota // RST
	RefuseClose               // FIN
	RefuseHTTP                // a minimal HTTP 503 with Retry-After, then FIN
	RefuseDrop                // nothing: the client goes on asking until it gives up
)

// Front is who speaks TCP to the clients of a virtual server.
type Front uint8

const (
	FrontKernel Front = iota
	FrontTap          // we do, on the TAP device; who waits has not been answered yet
)

// Transport is what becomes of the TCP that clients speak.
type Transport uint8

const (
	Proxied   Transport = iota // mode=tcp: it ends here, and a connection of ours carries the bytes on
	Forwarded                  // mode=forward: its segments go on to the server, and come back from there
)

// Side is what is on a TAP device.
type Side uint8

const (
	BothSides Side = iota
	ClientSide
	ServerSide
)

// SynProof says which clients must show that they can hear us before anything is
// kept of them.
type SynProof uint8

const (
	ProofAuto   SynProof = iota // those that come while many wait that have not
	ProofAlways                 // all
	ProofOff                    // none
)

// Congestion is how fast is sent to clients on the TAP device.
type Congestion uint8

const (
	Cubic Congestion = iota
	Reno
)

// State is what an operator decided about a member or node.
type State uint8

const (
	Enabled  State = iota // takes all
	Disabled              // takes persisted clients only
	Offline               // takes nobody
)

// Mode is how a member is chosen among those that have a slot.
type Mode uint8

const (
	ModeRoundRobin Mode = iota
	ModeRatio
	ModeLeastConnections
	ModeSourceHash
)

// ServiceDown is what becomes of a member's connections when it goes down.
type ServiceDown uint8

const (
	DownNone     ServiceDown = iota // they go on
	DownReset                       // they are reset
	DownReselect                    // those without a byte go back to the queue, the others are reset
)

// Monitor is how a pool finds out which members are up.
type Monitor uint8

const (
	MonitorDefault Monitor = iota // MonitorTCP with more than one member, else MonitorNone
	MonitorNone
	MonitorTCP  // connect
	MonitorHTTP // send, and look at the answer
)

// SendProxy is the header that tells a server who its client is.
type SendProxy uint8

const (
	ProxyOff SendProxy = iota
	ProxyV1
	ProxyV2
)

// Discipline is who of those that wait is served or given up.
type Discipline uint8

const (
	FIFO  Discipline = iota // in order, until queue-time-limit
	CoDel                   // as FIFO, and some are shed while waits stay long
)

// OnClose says which waiting clients have left, of those that closed their side.
type OnClose uint8

const (
	LeaveBare  OnClose = iota // who sent nothing before
	LeaveNever                // none
	LeaveAny                  // all
)

var (
	onCloseWords     = []string{"leave", "keep", "abort"}
	refuseWords      = []string{"reset", "close", "http-503", "drop"}
	frontWords       = []string{"kernel", "tap"}
	transportWords   = []string{"tcp", "forward"}
	sideWords        = []string{"both", "clients", "servers"}
	synProofWords    = []string{"auto", "always", "off"}
	congestionWords  = []string{"cubic", "reno"}
	stateWords       = []string{"enabled", "disabled", "offline"}
	modeWords        = []string{"round-robin", "ratio", "least-connections", "source-hash"}
	serviceDownWords = []string{"none", "reset", "reselect"}
	monitorWords     = []string{"default", "none", "tcp", "http"}
	sendProxyWords   = []string{"off", "v1", "v2"}
	disciplineWords  = []string{"fifo", "codel"}
)

// String gives the word the on-client-close key takes.
func (o OnClose) String() string { return onCloseWords[o] }

// String gives the word the refuse key takes.
func (r Refuse) String() string { return refuseWords[r] }

// String gives the word the front key takes.
func (f Front) String() string { return frontWords[f] }

// String gives the word the mode key takes.
func (t Transport) String() string { return transportWords[t] }

// String gives the word the side key takes.
func (s Side) String() string { return sideWords[s] }

// String gives the word the syn-proof key takes.
func (s SynProof) String() string { return synProofWords[s] }

// String gives the word the congestion-control key takes.
func (c Congestion) String() string { return congestionWords[c] }

// String gives the word the state key takes.
func (s State) String() string { return stateWords[s] }

// String gives the word the load-balancing-mode key takes.
func (m Mode) String() string { return modeWords[m] }

// String gives the word the service-down-action key takes.
func (d ServiceDown) String() string { return serviceDownWords[d] }

// String gives the word the monitor key takes.
func (m Monitor) String() string { return monitorWords[m] }

// String gives the word the send-proxy-protocol key takes.
func (p SendProxy) String() string { return sendProxyWords[p] }

// String gives the word the queue-discipline key takes.
func (d Discipline) String() string { return disciplineWords[d] }
