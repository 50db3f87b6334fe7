package term

import (
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// arrive is send as the port does it: netstack's link is told first.
func (f *flow) arrive(flags uint8, payload []byte) {
	var p frame.Packet
	h := frame.Header{Seq: f.seq, Ack: f.ack, Flags: flags, Window: 0xffff}
	b := frame.AppendTCP(nil, &f.f, &h, payload)
	p.Parse(b, serverMAC)
	f.r.Arriving(&p)
	f.r.Inject(b, false)
	f.seq += uint32(len(payload))
	if flags&frame.FIN != 0 {
		f.seq++
	}
}

// A small request is acknowledged by what is sent in return, or after a moment.
func TestHeldACK(t *testing.T) {
	r := newRealRig(t)
	f := r.client(1)
	conn := f.handshake()
	for range 3 {
		f.arrive(frame.ACK|frame.PSH, []byte("request"))
		r.step()
		r.Send(conn, []byte("response"))
		p, b := r.next()
		if p.Ack != f.seq || string(b.b[p.Data:p.End]) != "response" {
			t.Errorf("%+v", p)
		}
		f.ack = p.Seq + p.Len()
		r.pass(time.Second / 10)
		r.none("behind the response")
	}
	f.arrive(frame.ACK|frame.PSH, []byte("request"))
	r.none("at once")
	r.pass(3 * time.Millisecond)
	p, b := r.next()
	if p.Flags != frame.ACK || p.Ack != f.seq || !p.ChecksumOK(b.b) && b.vnet.Flags == 0 {
		t.Errorf("%+v", p)
	}
	r.pass(time.Second / 10)
	r.none("twice")
}

// What a client may wait for is acknowledged at once.
func TestACKNotHeld(t *testing.T) {
	r := newRealRig(t)
	f := r.client(1)
	conn := f.handshake()
	at := func(seq uint32, what string) {
		t.Helper()
		r.step()
		if len(r.out) == 0 {
			t.Fatalf("%s: nothing sent", what)
		}
		for len(r.out) > 0 {
			if p, _ := r.next(); len(r.out) == 0 && p.Ack != seq {
				t.Errorf("%s: %+v", what, p)
			}
		}
		r.pass(5 * time.Millisecond)
		r.none(what)
	}
	f.arrive(frame.ACK, []byte("one"))
	f.arrive(frame.ACK, []byte("two"))
	at(f.seq, "two pieces at once")

	f.arrive(frame.ACK, []byte("one"))
	r.none("one piece")
	f.arrive(frame.ACK, []byte("two"))
	at(f.seq, "two pieces one after the other")

	f.arrive(frame.ACK, make([]byte, 3000))
	at(f.seq, "more than a segment")

	gap := f.seq
	f.seq += 10
	f.arrive(frame.ACK, []byte("behind a gap"))
	at(gap, "a gap")
	f.seq = gap
	f.arrive(frame.ACK, make([]byte, 10))
	f.seq += 12
	at(f.seq, "the gap filled")
	for {
		if n, _ := r.Recv(conn, make([]byte, 10000)); n == 0 {
			break
		}
	}
	f.arrive(frame.ACK|frame.FIN, []byte("end"))
	at(f.seq, "FIN")
}

// A reset is the last word: no acknowledgement comes behind it.
func TestHeldACKAndReset(t *testing.T) {
	r := newRealRig(t)
	f := r.client(1)
	conn := f.handshake()
	f.arrive(frame.ACK, []byte("x"))
	r.none("at once")
	r.Reset(conn)
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v", p)
	}
	r.pass(10 * time.Millisecond)
	r.none("behind a reset")
}

// Many connections at once: each is acknowledged once, some at once.
func TestHeldACKs(t *testing.T) {
	r := newRealRig(t)
	const n = 3 * mostHeld
	flows := make([]*flow, n)
	for i := range flows {
		flows[i] = r.client(uint16(i + 1))
		flows[i].handshake()
	}
	seen := map[uint16]int{}
	take := func() {
		for len(r.out) > 0 {
			p, _ := r.next()
			if p.Ack != flows[p.DstPort-1].seq {
				t.Errorf("%+v", p)
			}
			seen[p.DstPort]++
		}
	}
	for _, f := range flows {
		f.arrive(frame.ACK, []byte("x"))
	}
	r.step()
	if take(); len(seen) != n-mostHeld {
		t.Errorf("%d acknowledged at once", len(seen))
	}
	r.pass(3 * time.Millisecond)
	take()
	for port, times := range seen {
		if times != 1 {
			t.Errorf("port %d acknowledged %d times", port, times)
		}
	}
	if len(seen) != n {
		t.Errorf("%d acknowledged of %d", len(seen), n)
	}
}
