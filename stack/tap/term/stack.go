package term

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gvisor.dev/gvisor/pkg/log"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

	"penstock/stack/tap/frame"
)

// Config says what a Stack is connected to, and how it speaks TCP.
type Config struct {
	Link Link
	Hops Hops
	MAC  frame.MAC // what our frames come from
	MTU  int       // of the link, bytes; 0 means 1500
	// Outbound sees each TCP segment before it is written. One that it drops
	// counts as sent. Nil costs nothing.
	Outbound func(s *Segment) (drop bool)
	// Wake has the loop call Events soon. It is called by what the loop does with
	// a connection, at most once between two calls of Events.
	Wake func()
	// Time is what timers go by, and nil but for tests, where it need not go on by
	// itself.
	Time func() time.Duration

	Knobs

	clock   tcpip.Clock // nil: the real one; tests have their own
	threads bool        // netstack has its own, for a test that uses it from several goroutines
}

// Stack is one queue's netstack.
type Stack struct {
	// Constant after New.
	net     *stack.Stack
	clock   *clock // nil: a test's
	inline  inline
	mss     int // 0: as the MTU allows
	receive int // largest receive buffer, bytes

	link link // see there

	mail mail // see there

	// Owned by the loop.
	room      room
	trusted   bool // what link.trusted is
	addresses map[frame.Addr]*ours
	listeners map[netip.AddrPort]*listener
	conns     []*conn // by number; nil: free
	free      []uint32
	accepting *listener // has more to accept, perhaps
	orphans   orphans
	sink      sink
	source    source

	oversize atomic.Uint64
}

// ours is an address of ours.
type ours struct {
	own       bool // by AddAddress
	listeners int
	conns     int // that were not given up
}

const nic = 1 // the only one

// What netstack has to say to itself goes nowhere: its counters say it, too.
func init() { log.SetTarget(&log.Writer{Next: io.Discard}) }

// oneProcessor is held while GOMAXPROCS is 1 for netstack.
var oneProcessor sync.Mutex

// New makes a Stack. It stops all goroutines for a moment, for netstack to
// believe that there is one processor only. The caller frees it.
func New(c Config) (*Stack, error) {
	if c.MTU == 0 {
		c.MTU = 1500
	}
	if c.MTU < 576 || c.MTU > 65535 {
		return nil, fmt.Errorf("MTU %d: not within 576 and 65535", c.MTU)
	}
	c.Knobs.fill()
	s := &Stack{
		mss:       c.MSS,
		receive:   c.Receive.Most,
		orphans:   orphans{most: c.Orphan},
		link:      link{to: c.Link, hops: c.Hops, mac: c.MAC, mtu: uint32(c.MTU), outbound: c.Outbound},
		mail:      mail{wake: c.Wake},
		addresses: map[frame.Addr]*ours{},
		listeners: map[netip.AddrPort]*listener{},
		conns:     make([]*conn, 1), // number 0 is none
	}
	if c.clock == nil && !c.threads {
		s.clock = newClock()
		s.clock.time = c.Time
		s.link.clock = s.clock
		c.clock = s.clock
	}
	s.net = newNet(c.clock)
	err := c.Knobs.apply(s.net)
	if err == nil {
		err = s.addNIC()
	}
	if err != nil {
		s.net.Destroy()
		return nil, err
	}
	if !c.threads {
		s.inline.takeOver(s.net)
	}
	return s, nil
}

// newNet makes a netstack with one TCP processor: a goroutine for each would
// only pass segments on to where the loop's thread is not. IPv6 has nothing to
// say of its own account: no duplicate address detection, no router
// solicitations, no MLD.
func newNet(clock tcpip.Clock) *stack.Stack {
	oneProcessor.Lock()
	defer oneProcessor.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return stack.New(stack.Options{
		NetworkProtocols: []stack.NetworkProtocolFactory{
			ipv4.NewProtocol,
			ipv6.NewProtocolWithOptions(ipv6.Options{}),
		},
		TransportProtocols: []stack.TransportProtocolFactory{
			tcp.NewProtocolCUBIC, icmp.NewProtocol4, icmp.NewProtocol6,
		},
		Clock: clock,
	})
}

// addNIC connects netstack to the link. All that goes out goes there.
func (s *Stack) addNIC() error {
	if err := s.net.CreateNIC(nic, &s.link); err != nil {
		return fmt.Errorf("create NIC: %s", err)
	}
	s.net.SetRouteTable([]tcpip.Route{
		{Destination: header.IPv4EmptySubnet, NIC: nic},
		{Destination: header.IPv6EmptySubnet, NIC: nic},
	})
	return nil
}

// Free resets all connections and gives back all that the Stack has. When it
// returns, nothing calls Link or Wake any more.
func (s *Stack) Free() {
	// Listeners first: netstack waits for each endpoint that it finds, and a
	// handshake that begins meanwhile would take its two minutes.
	for at := range s.listeners {
		s.Unlisten(at)
	}
	for _, c := range s.conns {
		if c != nil {
			reset(s.giveUp(c))
		}
	}
	s.inline.giveBack(s.net)
	s.net.Destroy()
	if s.room.tail != nil {
		s.room.tail.Release()
		s.room.tail = nil
	}
}

// AddAddress makes an address ours that no listener has: it answers pings.
func (s *Stack) AddAddress(a netip.Addr) error {
	o, err := s.address(a)
	if err == nil {
		o.own = true
	}
	return err
}

// address returns an address of ours, which it makes one if it is none.
// Netstack then keeps it for good: it would no longer take in segments of
// connections that are left. Who is told so by ARP is for Answers to say.
func (s *Stack) address(a netip.Addr) (*ours, error) {
	a = a.Unmap()
	key := frame.Addr(a.As16())
	if o := s.addresses[key]; o != nil {
		return o, nil
	}
	if a.Is6() && s.link.mtu < header.IPv6MinimumMTU {
		return nil, errors.New("IPv6 needs an MTU of 1280")
	}
	pa := tcpip.ProtocolAddress{Protocol: protocol(&key), AddressWithPrefix: address(&key).WithPrefix()}
	if err := s.net.AddProtocolAddress(nic, pa, stack.AddressProperties{}); err != nil {
		return nil, fmt.Errorf("add address %v: %s", a, err)
	}
	o := &ours{}
	s.addresses[key] = o
	return o, nil
}

// Answers says whether an address is ours, and so whether ARP and neighbour
// solicitations for it are to be answered.
func (s *Stack) Answers(a *frame.Addr) bool {
	o := s.addresses[*a]
	return o != nil && (o.own || o.listeners > 0 || o.conns > 0)
}

// address and protocol are an address in netstack's terms.
func address(a *frame.Addr) tcpip.Address {
	if frame.Is4(a) {
		return tcpip.AddrFrom4([4]byte(a[12:]))
	}
	return tcpip.AddrFrom16(*a)
}

func protocol(a *frame.Addr) tcpip.NetworkProtocolNumber {
	if frame.Is4(a) {
		return header.IPv4ProtocolNumber
	}
	return header.IPv6ProtocolNumber
}
