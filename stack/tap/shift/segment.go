package shift

import (
	"encoding/binary"

	"penstock/stack/tap/frame"
)

var be = binary.BigEndian

// Where things are in a TCP header.
const (
	offSeq     = 4
	offAck     = 8
	offSize    = 12
	offFlags   = 13
	offWindow  = 14
	offSum     = 16
	headerSize = 20
)

// Kinds of TCP options.
const (
	optEnd  = 0
	optNop  = 1
	optSACK = 5
	optTS   = 8
)

// Out translates a segment that netstack sends, from src, an address of ours, to
// dst. h is its TCP header, options included, and is changed in place. partial
// says that the checksum is left to the device. If it is false the segment must
// not be sent: it was netstack's answer to a rebuilt SYN, and the loop has it now.
// Any goroutine.
func (t *Table) Out(src, dst *frame.Addr, h []byte, partial bool) (send bool) {
	if t.live.Load() == 0 || len(h) < headerSize {
		return true
	}
	size := int(h[offSize]>>4) * 4
	if size < headerSize || size > len(h) {
		return true
	}
	e := t.find(&Flow{Client: *dst, Virtual: *src, ClientPort: be.Uint16(h[2:]), VirtualPort: be.Uint16(h)})
	if e == nil || e.void.Load() {
		return true
	}
	return t.out(e, h[:size], partial)
}

func (t *Table) out(e *flow, h []byte, partial bool) (send bool) {
	n, flags := e.numbers.Load(), h[offFlags]
	if flags&frame.SYN != 0 && e.ended.Load() && (n == nil || n.iss != be.Uint32(h[offSeq:])) {
		e.void.Store(true) // another connection's
		return true
	}
	if n == nil || flags&frame.SYN != 0 {
		if flags&(frame.SYN|frame.RST) != 0 && !e.ended.Load() {
			t.caught(e, h)
		}
		return false
	}
	if flags&frame.RST == 0 && e.ended.Load() && !e.used.Load() {
		e.used.Store(true)
	}
	ed := edit{h: h}
	ed.add(offSeq, n.seq)
	ed.window(n.scale.Out)
	ed.options(func(kind byte, at, _ int) {
		if kind == optTS {
			ed.add(at+2, n.ts)
		}
	})
	ed.sum(partial)
	return true
}

// In translates a segment that a client sent; b is its frame, or the beginning of
// it with all of the TCP header, and p what Parse said of it. Both are changed.
// partial says that the checksum is left to the device (NEEDS_CSUM). If it is
// false the segment must not be injected: the flow is pending, and netstack would
// not understand it; the client sends it again. The loop only.
func (t *Table) In(b []byte, p *frame.Packet, partial bool) (inject bool) {
	if t.live.Load() == 0 {
		return true
	}
	f := FlowOf(p)
	e := t.find(&f)
	if e == nil || e.void.Load() {
		return true
	}
	n := e.numbers.Load()
	if n == nil {
		// A reset is judged by the client's own number, which is the same for both.
		return p.Has(frame.RST)
	}
	if !p.Has(frame.ACK) {
		return true // then nothing of ours is in it
	}
	ed := edit{h: b[p.L4:p.Data]}
	ed.add(offAck, -n.seq)
	p.Window = ed.window(n.scale.In)
	ed.options(func(kind byte, at, size int) {
		switch kind {
		case optTS:
			ed.echo(at+6, e, n)
		case optSACK:
			for i := at + 2; i < at+size; i += 4 {
				ed.add(i, -n.seq)
			}
		}
	})
	ed.sum(partial)
	p.Ack -= n.seq
	return true
}

// Before is a sequence number as it was before Out translated it for the client; ok
// if there is such a flow, and it is translated. The loop only.
func (t *Table) Before(f Flow, seq uint32) (before uint32, ok bool) {
	if t.live.Load() == 0 {
		return 0, false
	}
	e := t.find(&f)
	if e == nil || e.void.Load() {
		return 0, false
	}
	n := e.numbers.Load()
	if n == nil {
		return 0, false
	}
	return seq - n.seq, true
}

// edit is a TCP header that is being changed, and what that does to its checksum.
type edit struct {
	h []byte
	d frame.Delta
}

// put replaces the four bytes at an offset.
func (e *edit) put(at int, v uint32) {
	old := be.Uint32(e.h[at:])
	if at&1 == 0 {
		e.d.Swap32(old, v)
	} else {
		e.d.SwapOdd32(old, v)
	}
	be.PutUint32(e.h[at:], v)
}

func (e *edit) add(at int, v uint32) { e.put(at, be.Uint32(e.h[at:])+v) }

// window shifts the window, which stays as it is if by is 0. One that would be too
// large for its field is as large as there can be.
func (e *edit) window(by int8) uint16 {
	old := be.Uint16(e.h[offWindow:])
	if by == 0 {
		return old
	}
	v := uint16(min(uint64(old)<<max(by, 0), 1<<16-1) >> max(-by, 0))
	e.d.Swap16(old, v)
	be.PutUint16(e.h[offWindow:], v)
	return v
}

// echo lowers an echoed timestamp. Zero stays zero, which means none. One from
// before netstack took over echoes the cookie's: netstack would take all the time
// the client waited for the time of a round trip, so it gets its own first one.
// What is before and after can be told for 24 days, so it is asked no more once
// the client has echoed one of netstack's.
func (e *edit) echo(at int, f *flow, n *numbers) {
	old := be.Uint32(e.h[at:])
	if old == 0 {
		return
	}
	v := old - n.ts
	if !f.echoed && int32(v-n.first) < 0 {
		v = n.first
	} else {
		f.echoed = true
	}
	e.put(at, v)
}

// sum puts the checksum right, or leaves it as wrong as it was.
func (e *edit) sum(partial bool) {
	if !partial {
		be.PutUint16(e.h[offSum:], e.d.Apply(be.Uint16(e.h[offSum:])))
	}
}

// options calls f with the place and size of each option that has numbers in it
// and a length that fits. As Linux and netstack do, it stops at one that ends
// behind the header.
func (e *edit) options(f func(kind byte, at, size int)) {
	for at := headerSize; at < len(e.h) && e.h[at] != optEnd; {
		if e.h[at] == optNop {
			at++
			continue
		}
		if at+2 > len(e.h) {
			return
		}
		kind, size := e.h[at], int(e.h[at+1])
		if size < 2 || at+size > len(e.h) {
			return
		}
		if kind == optTS && size == 10 || kind == optSACK && size%8 == 2 {
			f(kind, at, size)
		}
		at += size
	}
}
