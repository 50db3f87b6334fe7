package track

import "penstock/stack/tap/frame"

// Side is one of the two who talk.
type Side uint8

const (
	Client Side = iota
	Server
)

// State is how far a connection has come.
//
//	Opening --SYN-ACK--> Answered --ACK--> Established --FIN--> Closing --both FINs acknowledged--> Closed
//	   |                    |                   |                  |
//	   |                    +-------------------+------------------+-- the server's reset --> Reset
//	   |-- reset in answer to the SYN ----------)------------------)-----------------------> Reset
//	   |                    |                   |                  |
//	   +--------------------+-------------------+------------------+-- the client's reset, or ours, or a doubtful one
//	                                                               |
//	                                                           Resetting --the server has reset it too--> Reset
//
// Each arrow is one segment, and none is gone twice. There are two ways out of
// Resetting besides: who was reset falsely goes on, and is back where it was
// (revived), and both FINs may turn out to be acknowledged after all. Nothing leads
// out of Closed and Reset.
type State uint8

const (
	Opening     State = iota + 1 // the SYN went to the server
	Answered                     // its SYN-ACK passed
	Established                  // the client's acknowledgement of that passed
	Closing                      // one or both sides sent FIN, not both acknowledged
	Closed                       // both FINs acknowledged; what is repeated still passes
	Resetting                    // it was reset, but whether the server knows is open
	Reset                        // over by a reset
)

var states = [...]string{"none", "opening", "answered", "established", "closing", "closed", "resetting", "reset"}

func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return "state?"
}

// Event is what a segment meant. If it meant several things it is the one that
// stands last in: Finishing, Revived, Completed, Ended. State and FirstFin tell the
// rest.
type Event uint8

const (
	None      Event = iota
	Replied         // the first SYN-ACK: Answered
	Refused         // the SYN was answered with a reset: Reset. It is dropped
	Stale           // what the server acknowledges is of another connection; see StaleReset. It is dropped
	Completed       // the client acknowledged the SYN-ACK: Established, or Closing at once
	Finishing       // the first FIN of either side: Closing
	Ended           // both FINs are acknowledged: Closed
	Broken          // the server has reset it: Reset
	Aborting        // the client has reset it, or somebody may have: Resetting. The server has to be asked
	Confirmed       // in Resetting: the server has no such connection any more: Reset
	Revived         // in Resetting: it was no reset that counted; back to where it was
)

var events = [...]string{
	"none", "replied", "refused", "stale", "completed", "finishing", "ended", "broken", "aborting", "confirmed", "revived",
}

func (e Event) String() string {
	if int(e) < len(events) {
		return events[e]
	}
	return "event?"
}

// Segment is what the tracker looks at of one.
type Segment struct {
	Seq, Ack uint32
	Len      uint32 // bytes of payload
	Flags    uint8  // frame.SYN and so on
	Window   uint16 // as in the header, not scaled
	WS       int8   // of a SYN: the shift it offers; -1: none
}

func (s *Segment) has(flags uint8) bool { return s.Flags&flags == flags }

// Conn is a connection. It is a value without pointers; the zero value is none.
type Conn struct {
	// next is behind the highest number that a side has sent; SYN and FIN have one
	// each. acked is the highest acknowledgement that it has sent; of a server that
	// has not answered it is the client's first number, by which nothing is
	// acknowledged. window is the largest that a side has ever offered, before it is
	// shifted.
	//
	// While the handshake is not completed, acked of the client is what it will
	// acknowledge: the number behind the SYN-ACK's. If SYN-ACKs came with different
	// numbers (twin), as of a server that answers with cookies, it is that of an
	// earlier one, and next of the server that of the last.
	next   [2]uint32
	acked  [2]uint32
	window [2]uint16
	marks  uint16
	shifts uint8 // of the windows: the client's in the low half; there 15 is: not offered
	state  State
}

// marks of a Conn.
const (
	// Of the client; the server's is the next bit.
	finished = 1 << iota // has sent a FIN
	_
	atEnd // its FIN is the last that it has sent: next is behind it
	_
	paid // payload is: no FIN can be there
	_
	heard // was heard of since it was reset: what it acknowledged is what it expects
	_

	serverFirst // the server sent its FIN first
	answered    // a SYN-ACK came
	completed   // the client acknowledged it
	twin        // there were SYN-ACKs with different numbers; see renewed
	scaled      // both offered to shift their windows
	said        // there was payload

	// In Resetting.
	unsure   // the reset may not count
	byServer // it came from the server; if it is sure, it is the proxy that ends it

	// Once the handshake is completed twin means: another SYN of the client's passed.
	renewed = twin
)

func (c *Conn) is(mark uint16) bool          { return c.marks&mark != 0 }
func (c *Conn) of(s Side, mark uint16) bool  { return c.marks&(mark<<s) != 0 }
func (c *Conn) mark(mark uint16)             { c.marks |= mark }
func (c *Conn) markOf(s Side, mark uint16)   { c.marks |= mark << s }
func (c *Conn) unmark(mark uint16)           { c.marks &^= mark }
func (c *Conn) unmarkOf(s Side, mark uint16) { c.marks &^= mark << s }

// State is how far it has come.
func (c *Conn) State() State { return c.state }

// shift is by how much a side's windows are shifted.
func (c *Conn) shift(s Side) uint8 {
	if !c.is(scaled) {
		return 0
	}
	return c.shifts >> (4 * s) & 15
}

const (
	mostShift  = 14 // the largest there is (RFC 7323 2.3)
	notOffered = 15
)

// FirstFin is the side that closed first, if one has.
func (c *Conn) FirstFin() (s Side, ok bool) {
	if c.is(serverFirst) {
		s = Server
	}
	return s, c.of(Client, finished) || c.of(Server, finished)
}

// Unsaid says that no payload has passed in either direction.
func (c *Conn) Unsaid() bool { return !c.is(said) }

// Open begins with the client's SYN, as it is sent to the server.
func (c *Conn) Open(syn *Segment) {
	*c = Conn{state: Opening}
	c.next[Client] = syn.Seq + 1 + syn.Len
	c.acked = [2]uint32{Client: syn.Seq, Server: syn.Seq}
	c.window[Client] = syn.Window
	if c.shifts = notOffered; syn.WS >= 0 {
		c.shifts = uint8(min(syn.WS, mostShift))
	}
	if syn.Len > 0 {
		c.mark(said)
	}
}

// Segment takes note of a segment from a side, in the order in which they are passed
// on. drop: this one must not be. In Resetting and Reset the sender of what is
// dropped may be told so by ResetFor.
func (c *Conn) Segment(from Side, s *Segment) (e Event, drop bool) {
	switch {
	case s.has(frame.RST):
		return c.reset(from, s)
	case from == Server && c.strange(s):
		return Stale, true
	case s.has(frame.SYN) && from == Client:
		return None, c.syn(s)
	case s.has(frame.SYN):
		return c.synAck(s)
	}
	switch c.state {
	case Opening:
		return c.early(from, s)
	case Answered:
		if !c.fitsHandshake(from, s) {
			return None, true
		}
		return c.progress(from, s), false
	case Established, Closing:
		return c.progress(from, s), false
	case Resetting:
		return c.afterReset(from, s), c.forced()
	case Closed:
		return None, false
	}
	return None, true
}

// span is the largest window that a side has offered, in bytes.
func (c *Conn) span(s Side) uint32 { return uint32(c.window[s]) << c.shift(s) }

// within says whether lo <= n <= hi, as numbers that wrap.
func within(n, lo, hi uint32) bool { return n-lo <= hi-lo }

// after says whether a is behind b.
func after(a, b uint32) bool { return int32(a-b) > 0 }

// Next is behind the highest number that a side has sent, as far as it is believed.
func (c *Conn) Next(s Side) uint32 { return c.next[s] }
