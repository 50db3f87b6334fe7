package tap

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/hop"
	"penstock/stack/tap/park"
	"penstock/stack/tap/shift"
	"penstock/stack/tap/term"
)

// Owner decides about handshakes, and takes over the connections that they turn
// into. It is called on the loop, from within Readable and Turn, and may call
// the Port back.
type Owner interface {
	// Arrived asks about a new handshake, which is in record i: the owner has to
	// Park, Release or Refuse it.
	Arrived(i uint32, now int64)
	// Left tells that the client of a parked handshake went: it said so, or has
	// said nothing for too long. The owner has to Free it, or calls it Departed
	// and frees it later.
	Left(i uint32, now int64)
	// Connected tells that the handshake that was released for session is over,
	// and conn is the owner's now, ready for r at this moment. The record is free.
	Connected(session, conn uint32, r sys.Ready, now int64)
	// Broken tells that it failed: the client reset it. The record is free.
	Broken(session uint32, now int64)
	FlowOwner
	// Moved reports that more can be done with a connection.
	Moved(conn uint32, r sys.Ready, now int64)
	// Leaves says whether a client of a virtual server that closes its side while it
	// waits, with nothing sent, has left.
	Leaves(virtual int) bool
	// Depth returns how many wait where clients of a virtual server would, and
	// how many may; negative: any number.
	Depth(virtual int) (waiting, most int64)
}

// What a record is at.
//
//	         Park             Release
//	arrived ------> Parked ------------> Released ---> accepted, broken or
//	   |  \            |                                given up: free
//	   |   `- Release -|---> (Released)
//	   |   `- Forward -|---> Forwarding ---> the server has answered: free, or
//	   |               |                     it has not: as arrived
//	   `- Refuse       `- Left: free, or Departed until its outcome has come
const (
	Parked uint8 = iota + 1
	Released
	Departed
	Forwarding
)

// Port is one loop's share of the front end. Only the loop's goroutine may use
// it, or another while the loop stands still; Totals is for all.
type Port struct {
	// Constant after Open.
	weight []byte // see ballast
	cfg    *Config
	owner  Owner
	device Device
	queue  Queue
	mac    frame.MAC
	net    *term.Stack
	hops   *hop.Table
	fwd    *forwarder

	// Owned by the loop.
	table     *park.Table
	listeners []listener
	places    map[place]uint16 // number of the listener at an address
	pkt       frame.Packet     // the frame at hand
	vnet      device.VNet      // what stands before it
	out       []byte           // frames that we make
	injected  bool             // netstack has something to do
	more      bool             // ... or to say
	met       bool             // other loops have more frames for us
	ear       ear
	guests    guests
	draining  bool          // nobody new is let in
	silentAt  int64         // when the next walk through the records begins
	uninvited [][2]sys.Peer // who got into netstack without a record, and where; see sendOff
	checkAt   int64         // when to look after the device
	gone      bool          // there is none

	// See proof.go.
	cookie        *park.Cookie // all ports have the same
	shift         *shift.Table
	shifted       map[uint32]shift.Flow // by connection
	answers       map[uint32]synAck     // by record, of those that are released
	shares        *park.Shares
	loops         int
	cookiesUntil  int64 // some may still be echoed
	suspectUntil  int64 // nobody is believed
	mute, heard   int   // handshakes that came to nothing and that did not, lately
	asked, echoed int   // cookies

	counts counts
}

// ballast is memory that is never touched, and so is none, but counts when the
// garbage collector thinks about when to come. Netstack leaves 5 kB for each
// connection, and what lives is small: a collection would come every few
// thousand connections, and look each time at all that TIME_WAIT remembers.
const ballast = 32 << 20

// shiftMost is for how many translated connections the table is made, and
// shiftGrace how long one is translated after TIME_WAIT.
const (
	shiftMost  = 1 << 16
	shiftGrace = 2 * time.Second
)

// NewPorts returns the ports of all loops; the caller closes the devices behind
// them. wake is what makes loop i have its Turn. now is the loops' time.
func NewPorts(c Config, ds *Devices, owners []Owner, wake func(i int) func(), now int64) (ports []*Port, err error) {
	d := ds.Clients
	common := newCommon(&c, ds, len(owners), func(i int) { wake(i)() })
	var secret [16]byte
	crand.Read(secret[:])
	cookie := park.NewCookie(secret)
	var weight []byte
	if !c.light {
		weight = make([]byte, ballast)
	}
	for i, o := range owners {
		p := &Port{weight: weight,
			cfg: &c, owner: o, device: d, queue: d.Queue(i), mac: d.MAC(), hops: hop.New(),
			ear: ear{device: d, queue: d.Queue(i), upTo: now, since: now}, guests: newGuests(),
			places: map[place]uint16{}, cookie: cookie, loops: len(owners), shifted: map[uint32]shift.Flow{}, answers: map[uint32]synAck{}, listeners: make([]listener, 1), // number 0 is none
		}
		p.table = park.New(c.Handshakes, rand.Uint64())
		p.shares = park.NewShares(rand.Uint64())
		p.shift = shift.New(shiftMost, c.TimeWait+shiftGrace, wake(i))
		p.net, err = term.New(term.Config{
			Link: p.queue, Hops: p.hops, MAC: p.mac, MTU: d.MTU(), Wake: wake(i), Knobs: c.knobs(),
			Outbound: p.outbound, Time: c.netTime,
		})
		if err == nil {
			p.fwd = newForwarder(p, common, ds, i, o, rand.Uint64(), now)
			p.fwd.announce()
			err = p.addAddresses()
		}
		if err != nil {
			for _, p := range ports {
				p.Close()
			}
			return nil, fmt.Errorf("netstack of loop %d: %w", i, err)
		}
		ports = append(ports, p)
	}
	return ports, nil
}

func (p *Port) addAddresses() error {
	for _, a := range p.cfg.Addresses {
		if err := p.net.AddAddress(a.Addr()); err != nil {
			return err
		}
		addr := frame.Addr(a.Addr().As16())
		p.announce(&addr)
	}
	return nil
}

// outbound sees each TCP segment of netstack's.
func (p *Port) outbound(s *term.Segment) (drop bool) {
	if s.Header[13]&(frame.SYN|frame.ACK) == frame.SYN|frame.ACK && !p.answered(s) {
		p.uninvited = append(p.uninvited, [2]sys.Peer{{Addr: s.Dst, Port: s.DstPort}, {Addr: s.Src, Port: s.SrcPort}})
		return true
	}
	return !p.shift.Out(&s.Src, &s.Dst, s.Header, s.Partial)
}

// Close ends the netstack, with all its connections. Nothing wakes the loop any more then.
func (p *Port) Close() {
	p.net.Free()
	p.Flush()
}

// FD is what Readable is called for; it may be watched unless Gone.
func (p *Port) FD() int { return p.queue.FD() }

// Conns are the connections: what was Connected. Close them with Hangup.
func (p *Port) Conns() *term.Stack { return p.net }

// listener is an address on which clients of a virtual server arrive.
type listener struct {
	Virtual
	id       int // the owner's number of the virtual server
	at       place
	closed   bool // takes nobody any more
	records  int  // that name it
	flows    int  // that do
	unproven int  // of those, the ones that have echoed no cookie
}

func (l *listener) local() sys.Peer { return sys.Peer{Addr: l.at.addr, Port: l.at.port} }

// place is an address and port as frames have it.
type place struct {
	addr frame.Addr
	port uint16
}

func placeOf(a netip.AddrPort) place { return place{a.Addr().As16(), a.Port()} }

// Listen has clients arrive for the owner's virtual server id, or changes how
// they are treated. One that had another address is closed there.
func (p *Port) Listen(id int, v Virtual) error {
	at := placeOf(v.Listen)
	if n := p.places[at]; n != 0 && (p.listeners[n].id == id || p.listeners[n].closed) {
		l := &p.listeners[n]
		if l.id != id && l.records > 0 {
			return fmt.Errorf("listen on %v: clients of the virtual server that was there are not gone yet", v.Listen)
		}
		p.shut(id, at)
		l.id, l.closed = id, false
		p.treat(l, &v)
		return nil
	}
	if p.places[at] != 0 {
		return fmt.Errorf("listen on %v: another virtual server does", v.Listen)
	}
	if err := p.net.Listen(id, v.Listen); err != nil {
		return fmt.Errorf("listen on %v: %w", v.Listen, err)
	}
	p.shut(id, at)
	n := p.freeListener()
	p.listeners[n] = listener{id: id, at: at}
	p.treat(&p.listeners[n], &v)
	p.places[at] = n
	p.announce(&at.addr)
	return nil
}

// treat says how a listener's clients are treated from now on.
func (p *Port) treat(l *listener, v *Virtual) {
	if v.Forward {
		p.fwd.forwards = true
	}
	if !slices.Equal(l.SNAT, v.SNAT) {
		p.fwd.announceSNAT(v.SNAT)
	}
	l.Virtual = *v
}

func (p *Port) freeListener() uint16 {
	for n := 1; n < len(p.listeners); n++ {
		if p.listeners[n].id < 0 {
			return uint16(n)
		}
	}
	p.listeners = append(p.listeners, listener{})
	return uint16(len(p.listeners) - 1)
}

// Change changes how clients of virtual server id are treated. Of those at an address
// that it had before, only the times change.
func (p *Port) Change(id int, v Virtual) {
	for n := range p.listeners {
		switch l := &p.listeners[n]; {
		case n == 0 || l.id != id:
		case l.closed:
			l.Idle, l.HalfClose = v.Idle, v.HalfClose
		default:
			v.Listen = l.Listen
			p.treat(l, &v)
		}
	}
}

// Drain refuses all who are new from now on.
func (p *Port) Drain() { p.draining = true }

// Shut lets nobody arrive any more for virtual server id. Who is there already
// goes on.
func (p *Port) Shut(id int) { p.shut(id, place{}) }

// shut does so at all places but one.
func (p *Port) shut(id int, but place) {
	for n := range p.listeners {
		if l := &p.listeners[n]; n > 0 && l.id == id && l.at != but && !l.closed {
			l.closed = true
			p.unlisten(uint16(n))
		}
	}
}

// unlisten gives a closed listener up when no record names it any more.
func (p *Port) unlisten(n uint16) {
	l := &p.listeners[n]
	if !l.closed || l.records+l.flows > 0 || l.id < 0 {
		return
	}
	p.net.Unlisten(netip.AddrPortFrom(netip.AddrFrom16(l.at.addr).Unmap(), l.at.port))
	delete(p.places, l.at)
	*l = listener{id: -1}
}

// Listens says whether clients of virtual server id can arrive.
func (p *Port) Listens(id int) bool {
	for n := range p.listeners {
		if l := &p.listeners[n]; n > 0 && l.id == id && !l.closed {
			return true
		}
	}
	return false
}
