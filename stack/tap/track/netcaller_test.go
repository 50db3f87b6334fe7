package track

import (
	"time"

	"penstock/stack/tap/frame"
)

// caller is what the tracker is used by: it gives slots, answers strays, asks servers
// and has timers.
type caller struct {
	*network
	flows  map[uint16]*netFlow // by the client's port
	muted  map[uint16]bool     // ports of clients that have vanished
	slots  int
	events map[Event]int
}

// mostSlots is the limit.
const mostSlots = 6

type netFlow struct {
	c      Conn
	port   uint16
	held   bool
	syn    []byte
	since  time.Time
	active time.Time
	again  time.Time // when to send something again
	tries  int
	asking bool
}

// pass is called with each frame in the middle.
func (n *caller) pass(from Side, b []byte) {
	var p frame.Packet
	if p.Parse(b, linkMAC) != frame.TCP || !p.ChecksumOK(b) {
		n.fatal("not TCP: %x", b)
	}
	port := clientPort(&p, from)
	if from == Client && n.muted[port] {
		return
	}
	s := Segment{Seq: p.Seq, Ack: p.Ack, Len: uint32(p.End - p.Data), Flags: p.Flags, Window: p.Window, WS: -1}
	if p.Has(frame.SYN) {
		s.WS = p.Options(b).WS
	}
	fl := n.flows[port]
	if from == Client && p.Flags&(frame.SYN|frame.ACK|frame.RST) == frame.SYN && (fl == nil || fl.c.Again(&s)) {
		n.begin(port, &s, b)
		return
	}
	if fl == nil {
		n.note("%d: %v of nothing", port, s)
		if r := frame.AppendReset(nil, &p, linkMAC); !p.Has(frame.RST) {
			n.send(from, true, r)
		}
		return
	}
	fl.active = n.clock.Now()
	e, drop := fl.c.Segment(from, &s)
	n.note("%d: from %d %v: %v, %v, dropped %v", port, from, s, e, fl.c.State(), drop)
	if !drop {
		n.send(1-from, true, b)
	}
	n.event(fl, e, &s)
}

// begin takes a slot for a SYN; without one the client comes again.
func (n *caller) begin(port uint16, s *Segment, b []byte) {
	if n.slots >= mostSlots {
		return
	}
	now := n.clock.Now()
	fl := &netFlow{port: port, held: true, syn: b, since: now, active: now, again: now.Add(time.Second)}
	fl.c.Open(s)
	n.flows[port] = fl
	n.slots++
	n.note("%d: %v begins", port, *s)
	n.send(Server, true, b)
}

func (n *caller) event(fl *netFlow, e Event, s *Segment) {
	n.events[e]++
	switch e {
	case Stale:
		seq, flags := StaleReset(s)
		n.forge(fl, Server, seq, 0, flags, nil)
		if fl.c.State() == Opening {
			n.send(Server, true, fl.syn)
		}
	case Aborting:
		n.ask(fl)
	case Revived, Completed:
		fl.asking = false
	case Ended:
		n.release(fl, e)
	case Refused, Broken, Confirmed:
		n.release(fl, e)
		delete(n.flows, fl.port)
	}
}

// release gives a slot back.
func (n *caller) release(fl *netFlow, how Event) {
	if !fl.held {
		n.fatal("%d: given back again by %v", fl.port, how)
	}
	n.note("%d: free by %v", fl.port, how)
	fl.held, fl.asking = false, false
	n.slots--
}

// ask begins to ask the server.
func (n *caller) ask(fl *netFlow) {
	fl.asking, fl.tries = true, 0
	n.askAgain(fl)
}

func (n *caller) askAgain(fl *netFlow) {
	if fl.tries > 60 {
		n.fatal("%d: the server never confirmed: %+v", fl.port, fl.c)
	}
	if fl.tries++; fl.tries > 6 && !fl.c.Sure() {
		fl.c.ForceReset()
	}
	if fl.tries > 1 && fl.c.Sure() {
		seq, ack, flags := fl.c.ResetFor(Server)
		n.forge(fl, Server, seq, ack, flags, nil)
	}
	seq, ack := fl.c.ProbeServer()
	n.forge(fl, Server, seq, ack, frame.ACK, &frame.Options{TS: true, TSVal: 1, WS: -1})
	fl.again = n.clock.Now().Add(200 * time.Millisecond)
}

// force ends a flow.
func (n *caller) force(fl *netFlow) {
	n.note("%d: the proxy ends it", fl.port)
	for _, to := range []Side{Client, Server} {
		seq, ack, flags := fl.c.ResetFor(to)
		n.forge(fl, to, seq, ack, flags, nil)
	}
	fl.c.ForceReset()
	n.ask(fl)
}

// forge sends a segment in the name of the other side.
func (n *caller) forge(fl *netFlow, to Side, seq, ack uint32, flags uint8, o *frame.Options) {
	n.note("%d: sends to %d seq %d ack %d flags %d", fl.port, to, seq, ack, flags)
	ports := [2]uint16{fl.port, serverPort}
	f := frame.Flow{
		SrcMAC: linkMAC, DstMAC: linkMAC, Src: addrs[1-to].As16(), Dst: addrs[to].As16(), SrcPort: ports[1-to], DstPort: ports[to],
	}
	n.send(to, true, frame.AppendTCP(nil, &f, &frame.Header{Seq: seq, Ack: ack, Flags: flags, Options: o}, nil))
}

const (
	shakeTime = 4 * time.Second
	idleTime  = 40 * time.Second
	restTime  = 2 * time.Second
)

// timers looks at all flows.
func (n *caller) timers() {
	now := n.clock.Now()
	for port, fl := range n.flows {
		quiet := now.Sub(fl.active)
		switch state := fl.c.State(); {
		case fl.asking:
			if !now.Before(fl.again) {
				n.askAgain(fl)
			}
		case state == Closed:
			if quiet > restTime {
				delete(n.flows, port)
			}
		case state == Opening && now.Sub(fl.since) > shakeTime:
			seq, ack, flags := fl.c.ResetFor(Server)
			n.forge(fl, Server, seq, ack, flags, nil)
			n.release(fl, Refused) // nobody was told that the server has answered
			delete(n.flows, port)
		case state == Opening && !now.Before(fl.again):
			fl.again = now.Add(time.Second)
			n.send(Server, true, fl.syn)
		case state == Answered && now.Sub(fl.since) > 2*shakeTime, quiet > idleTime:
			n.force(fl)
		}
	}
}

// clientPort is the port that the client has.
func clientPort(p *frame.Packet, from Side) uint16 {
	if from == Client {
		return p.SrcPort
	}
	return p.DstPort
}

// deliver hands a frame to a host, unless it is for a client that has vanished.
func (n *caller) deliver(to Side, b []byte) {
	var p frame.Packet
	p.Parse(b, linkMAC)
	if to == Client && n.muted[clientPort(&p, Server)] {
		return
	}
	n.hosts[to].receive(b)
}
