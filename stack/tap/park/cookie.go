package park

import (
	"encoding/binary"

	"penstock/stack/tap/frame"
)

// Cookie makes answers to SYNs that need no memory, and knows them when they
// come back: a client that echoes one has the address it says it has. It never
// changes, so all loops can use one, and must: the echo may come to another.
//
// What it must remember of the SYN travels with the answer. Our sequence number
// is 29 bits of a keyed hash and 3 for the MSS; the low bits of our timestamp
// are the window's shift and whether SACK was permitted, as Linux has it. So a
// client without timestamps gets neither, and the answer to it must not offer
// them. The hash covers all of that, with the client's sequence number and the
// minute: it holds until the next minute has ended, 60 to 120 s.
//
// A number that is made up passes once in 2^28 tries, for 2 minutes are tried. A
// client that echoed one can echo it again while it holds.
type Cookie struct {
	key [2]uint64
	ago uint32 // where our clock of timestamps stood at zero
}

// NewCookie returns a Cookie with a secret, which must be random.
func NewCookie(secret [16]byte) *Cookie {
	c := &Cookie{key: [2]uint64{binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])}}
	c.ago = uint32(sip(&c.key))
	return c
}

const minute = int64(60e9)

// sizes are the MSS that come back; others come back as the next smaller one,
// and what is below them as the first, which is the least that Linux takes.
var sizes = [8]uint16{88, 536, 1220, 1360, 1400, 1440, 1460, 8940}

// What an endpoint takes that doesn't say (RFC 9293 3.7.1).
const (
	silentMSS4 = 536
	silentMSS6 = 1220
)

// Low bits of our timestamp.
const (
	carryWS   = 0x0f // 15: none
	carrySACK = 0x10
	carryAll  = 0x1f
	carryNone = 0x20 // for the hash: there are no timestamps
)

// Issue returns the sequence number and the timestamp to answer a SYN with. The
// timestamp means nothing for a client without timestamps.
func (c *Cookie) Issue(k *Key, s *Syn, now int64) (iss, tsval uint32) {
	size := sizeOf(k, s.Options.MSS)
	carried := carriedBy(&s.Options)
	iss = c.mac(k, s.Seq, now/minute, size, carried)
	tsval = c.Clock(now)
	carried &= carryAll
	if tsval&carryAll < carried {
		tsval -= carryAll + 1 // never ahead of the clock
	}
	return iss, tsval&^carryAll | carried
}

// Clock is our timestamp for whatever else is sent before the client has got
// a connection. It is never behind what Issue said.
func (c *Cookie) Clock(now int64) uint32 { return c.ago + uint32(now/ms) }

// Check says whether iss was issued in this minute or the last to who has now
// echoed it: isn is the client's initial sequence number, o and window are of
// its segment. It returns the SYN as far as it is known, with the timestamp and
// the window of that segment.
func (c *Cookie) Check(k *Key, isn, iss uint32, o frame.Options, window uint16, now int64) (Syn, bool) {
	size := iss & uint32(len(sizes)-1)
	carried := uint32(carryNone)
	if o.TS {
		carried = o.TSEcr & carryAll
	}
	m := now / minute
	if c.mac(k, isn, m, size, carried) != iss && c.mac(k, isn, m-1, size, carried) != iss {
		return Syn{}, false
	}
	s := Syn{Seq: isn, Window: window, Options: frame.Options{TS: o.TS, TSVal: o.TSVal, MSS: sizes[size], WS: -1}}
	if !o.TS {
		return s, true
	}
	s.Options.SACK = carried&carrySACK != 0
	if ws := carried & carryWS; ws != carryWS {
		s.Options.WS = int8(ws)
		s.Window = uint16(min(uint64(window)<<ws, 1<<16-1))
	}
	return s, true
}

// mac is the sequence number.
func (c *Cookie) mac(k *Key, isn uint32, m int64, size, carried uint32) uint32 {
	hi, lo := words(&k.Peer)
	h := sip(&c.key, hi, lo,
		uint64(isn)<<32|uint64(k.Port)<<16|uint64(k.Virtual),
		uint64(m)<<16|uint64(size)<<8|uint64(carried))
	return uint32(h)&^uint32(len(sizes)-1) | size
}

func carriedBy(o *frame.Options) uint32 {
	if !o.TS {
		return carryNone
	}
	carried := uint32(carryWS)
	if o.WS >= 0 {
		carried = uint32(min(o.WS, carryWS-1))
	}
	if o.SACK {
		carried |= carrySACK
	}
	return carried
}

// sizeOf returns the largest size that is not above mss.
func sizeOf(k *Key, mss uint16) (size uint32) {
	if mss == 0 {
		mss = silentMSS6
		if _, ok := is4(&k.Peer); ok {
			mss = silentMSS4
		}
	}
	for i := range sizes {
		if sizes[i] <= mss {
			size = uint32(i)
		}
	}
	return size
}
