package tap

import (
	"net/netip"
	"time"

	"penstock/stack/tap/term"
)

// Config says which device to use, and how TCP is spoken on it.
type Config struct {
	Device    string         // its name; it is made if there is none
	Addresses []netip.Prefix // ours on the device, besides those of virtual servers; ARP, ND and ping are answered
	MAC       [6]byte        // ours; zero: made from the device's name
	MTU       int            // bytes; 0: as the device has it

	MSS           int           // most that a client may send in a segment, bytes; 0: what the MTU allows
	RACK          bool          // loss detection by time (RFC 8985); sends much again for nothing on short paths
	Congestion    string        // cubic or reno
	TimeWait      time.Duration // how long a closed connection is remembered, 5 kB each
	ReceiveBuffer int           // most bytes a connection may have unread; it starts with 256 KiB, or this
	SendBuffer    int           // most bytes a connection may have unacknowledged

	Handshakes int // most that a loop keeps parked, 64 bytes each
	Flows      int // most forwarded connections of a loop, with those that are remembered for a while; 128 bytes each

	// Gateways are where servers are that are in no network of Addresses, one of
	// each family at most. Only for Forward, as Servers.
	Gateways []netip.Addr
	Servers  *Link // the device that servers are behind; nil: the clients'

	netTime func() time.Duration // term.Config's Time
	light   bool                 // a test's, which makes ports by the thousand: no ballast
}

// Link is a device that has servers behind it and no clients.
type Link struct {
	Device    string         // as Config's
	Addresses []netip.Prefix // ours on it, by which servers' networks are known; ARP, ND and ping are answered
	Gateways  []netip.Addr   // where servers are that are in none of these
	MAC       [6]byte        // as Config's
	MTU       int            // as Config's
}

// Proof says when a client must prove that it can hear us before it may wait.
type Proof uint8

const (
	ProofAuto   Proof = iota // when unproven clients fill half the queue, or a prefix its share
	ProofAlways              // each
	ProofOff                 // none
)

// Virtual is a virtual server on the device.
type Virtual struct {
	Listen netip.AddrPort
	Proof  Proof
	// Share is how much of the queue the unproven clients of one source prefix
	// (/24, /48) may fill, in percent; 0: all of it.
	Share int
	// Silent refuses by saying nothing, so that the client tries again until it
	// gives up; else with a reset.
	Silent bool

	// Forward sends a client's own SYN to its server, and rewrites headers from
	// then on: TCP is spoken from end to end.
	Forward bool
	// SNAT are addresses of ours of which one takes the place of the client's for
	// the server. None: the server sees the client's, and has to route back by us.
	SNAT      []netip.Addr
	Idle      time.Duration // a forwarded connection in which no byte was sent is reset after this; 0: never
	HalfClose time.Duration // the same, once a side has sent FIN; 0: as Idle
}

// firstBuffer is how large a connection's buffers are at first, bytes.
const firstBuffer = 256 << 10

func (c *Config) knobs() term.Knobs {
	return term.Knobs{
		RACK: c.RACK, Congestion: c.Congestion, MSS: c.MSS, TimeWait: c.TimeWait,
		Receive: rangeTo(c.ReceiveBuffer), Send: rangeTo(c.SendBuffer),
	}
}

func rangeTo(most int) term.Range {
	if most == 0 {
		return term.Range{}
	}
	return term.Range{First: min(firstBuffer, most), Most: most}
}
