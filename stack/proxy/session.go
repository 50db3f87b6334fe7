package proxy

import (
	"encoding/binary"

	"penstock/lb/dispatch"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

// client is the part of a session that every connection has. 64 bytes, held
// by a test.
type client struct {
	accepted int64
	tried    uint64   // dispatch.Attempt
	peer     sys.Peer // its PROXY header's source, if it had one
	virtual  dispatch.VirtualID
	side     relay.Side
	waiter   dispatch.Waiter // while parked; Slot is its handshake while shaking
	pair     uint32          // 0: none
	position uint32          // in the queue when it was parked first; 0: never
	tries    uint8           // dispatch.Attempt
	state    sessionState
	watched  bool // registered with the poller
	ending   Code // of a departed client
}

type sessionState uint8

const (
	heading sessionState = iota + 1 // its PROXY header is not whole yet
	shaking                         // has a slot, and its handshake is being completed (TAP)
	parked
	departed // the client left, but its outcome is on its way
	starved  // has a slot, but there is no descriptor to dial with
	dialling
	relaying
	flushing // the server broke off: what it sent goes out, then a reset
	refusing // FIN is sent; waiting for the client's
)

func (c *client) attempt() dispatch.Attempt {
	return dispatch.Attempt{Since: dispatch.Tick(c.accepted), Tried: c.tried, Tries: c.tries, Source: c.source()}
}

// source is the client's address as the dispatcher wants it.
func (c *client) source() dispatch.Source {
	return sourceOf(c.peer)
}

func sourceOf(p sys.Peer) dispatch.Source {
	return dispatch.Source{Hi: binary.BigEndian.Uint64(p.Addr[:8]), Lo: binary.BigEndian.Uint64(p.Addr[8:])}
}

// pair is the server's half of a session, and its timer's number. A client
// that is refused, or whose header is waited for, has one for its timer only.
type pair struct {
	client    uint32
	server    relay.Side
	path      dispatch.Path
	holds     bool // path is a slot to be released
	up, down  relay.Flow
	granted   int64 // when the slot was given
	connected int64 // 0: not yet
	active    int64 // when the last byte moved; of who is shaking, when its time is over
	flags     pairFlags
	flushes   uint8 // looks taken while flushing
	refused   Code  // while refusing
}

type pairFlags uint8

const (
	serverDeaf  pairFlags = 1 << iota // the server reads no more; its answer may still come
	serverBroke                       // it reset the connection
	optionsSet                        // keep-alive and the like are on for the server
	queued                            // in the list of those with more to do
	clientFin                         // the client was the first to say its last
	serverFin                         // the server was
	slotted                           // it was given a slot: path names a member
)
