package term

import (
	"fmt"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// Knobs is what there is to set about TCP. The zero value is sound.
type Knobs struct {
	// RACK finds losses by time (RFC 8985). On short paths it sends much again
	// for nothing; without it losses are found by SACK and counting.
	RACK bool
	// Congestion is cubic or reno; empty means cubic.
	Congestion string
	// MSS is the most that a client may send in a segment, bytes; 0 means what
	// the MTU allows. At least 88.
	MSS int
	// TimeWait is how long a connection that we closed first is remembered; 0
	// means 2 s. Each takes about 5 kB meanwhile.
	TimeWait time.Duration
	// Receive and Send are the sizes of a connection's buffers in bytes, at
	// first and at most; 0 means 256 KiB and 4 MiB. They grow with what the
	// path takes. Half of Receive is the window.
	Receive, Send Range
	// Orphan is how long a closed connection may take to deliver what it still
	// holds, and how long it then waits for the client's FIN; 0 means 60 s.
	Orphan time.Duration
}

// Range is where a size begins and ends.
type Range struct{ First, Most int }

// minBuffer is the least that a buffer may be.
const minBuffer = 4 << 10

func (r *Range) fill() {
	if r.Most == 0 {
		r.Most = max(4<<20, r.First)
	}
	if r.First == 0 {
		r.First = min(256<<10, r.Most)
	}
}

// fill puts the defaults in.
func (k *Knobs) fill() {
	k.Receive.fill()
	k.Send.fill()
	if k.Congestion == "" {
		k.Congestion = "cubic"
	}
	if k.TimeWait == 0 {
		k.TimeWait = 2 * time.Second
	}
	if k.Orphan == 0 {
		k.Orphan = time.Minute
	}
}

// apply tells netstack.
func (k *Knobs) apply(net *stack.Stack) error {
	if k.MSS != 0 && (k.MSS < header.TCPMinimumMSS || k.MSS > header.TCPMaximumMSS) {
		return fmt.Errorf("MSS %d: not within %d and %d", k.MSS, header.TCPMinimumMSS, header.TCPMaximumMSS)
	}
	recovery := tcpip.TCPRecovery(0)
	if k.RACK {
		recovery = tcpip.TCPRACKLossDetection
	}
	congestion := tcpip.CongestionControlOption(k.Congestion)
	timeWait := tcpip.TCPTimeWaitTimeoutOption(k.TimeWait)
	linger := tcpip.TCPLingerTimeoutOption(k.Orphan)
	receive := tcpip.TCPReceiveBufferSizeRangeOption{Min: minBuffer, Default: k.Receive.First, Max: k.Receive.Most}
	send := tcpip.TCPSendBufferSizeRangeOption{Min: minBuffer, Default: k.Send.First, Max: k.Send.Most}
	for name, o := range map[string]tcpip.SettableTransportProtocolOption{
		"loss recovery": &recovery, "congestion control": &congestion, "time wait": &timeWait,
		"FIN-WAIT-2": &linger, "receive buffer": &receive, "send buffer": &send,
	} {
		if err := net.SetTransportProtocolOption(tcp.ProtocolNumber, o); err != nil {
			return fmt.Errorf("set %s: %s", name, err)
		}
	}
	return nil
}
