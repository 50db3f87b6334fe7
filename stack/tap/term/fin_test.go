package term

import (
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// A FIN goes with the data before it if that has not left yet, and else by itself.
func TestFINJoinsItsData(t *testing.T) {
	for _, c := range []struct {
		name    string
		bytes   int
		between func(r *rig, k, other *flow)
		joined  bool
	}{
		{"at once", 256, func(*rig, *flow, *flow) {}, true},
		{"most of a segment", 1400, func(*rig, *flow, *flow) {}, true},
		{"several segments in one frame", 3000, func(*rig, *flow, *flow) {}, false},
		{"the data has left", 256, func(r *rig, _, _ *flow) { r.flush() }, false},
		{"another's segment is behind it", 256, func(r *rig, _, other *flow) {
			other.sendAt(other.seq-10, other.ack, frame.ACK, nil) // out of the window: acknowledged
			r.step()
		}, false},
		{"the client sent more", 256, func(r *rig, k, _ *flow) {
			k.arrive(frame.ACK|frame.PSH, []byte("more"))
			r.step() // its acknowledgement waits for company
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRealRig(t)
			k, other := r.client(1), r.client(2)
			conn := k.handshake()
			other.handshake()
			r.hold = true
			if n, e := r.Send(conn, make([]byte, c.bytes)); n != c.bytes || e != 0 {
				t.Fatal(n, e)
			}
			c.between(r, k, other)
			r.ShutdownWrite(conn)
			r.flush()
			wantFIN(t, r, k, c.bytes, c.joined)
			k.send(frame.FIN | frame.ACK)
			r.hold = false
			r.step()
			if p, _ := r.next(); p.Ack != k.seq {
				t.Errorf("acknowledged %d, want %d", p.Ack, k.seq)
			}
		})
	}
}

// wantFIN takes all that a client was sent: so many bytes and a FIN, each once, which
// has to acknowledge all that the client sent.
func wantFIN(t *testing.T, r *rig, k *flow, bytes int, joined bool) {
	t.Helper()
	r.step()
	got, fins := 0, 0
	for len(r.out) > 0 {
		b := <-r.out
		var p frame.Packet
		if p.Parse(b.b, clientMAC) != frame.TCP || p.DstPort != k.f.SrcPort {
			continue
		}
		n := p.End - p.Data
		if n > 0 && p.Seq != k.ack+uint32(got) || b.vnet.Flags&device.NeedsCsum == 0 && !p.ChecksumOK(b.b) {
			t.Errorf("%+v behind %d bytes", p, got)
		}
		if got += n; p.Has(frame.FIN) {
			fins++
			if p.Seq+uint32(n) != k.ack+uint32(bytes) || p.Ack != k.seq || (n > 0) != joined {
				t.Errorf("FIN in %+v, want joined %v, at %d, for %d", p, joined, k.ack+uint32(bytes), k.seq)
			}
		}
	}
	if got != bytes || fins != 1 {
		t.Errorf("%d bytes and %d FINs, want %d and 1", got, fins, bytes)
	}
	k.ack += uint32(bytes) + 1
}

// What was lost is sent again, data and FIN, however they left.
func TestJoinedFINIsLost(t *testing.T) {
	r := newRealRig(t)
	k := r.client(1)
	conn := k.handshake()
	r.hold = true
	r.Send(conn, make([]byte, 100))
	r.ShutdownWrite(conn)
	if len(r.held) != 1 {
		t.Fatalf("%d frames, want one", len(r.held))
	}
	r.held, r.hold = nil, false
	end := k.ack + 101
	for range 10 {
		if r.pass(time.Second); len(r.out) == 0 {
			continue
		}
		p, _ := r.next()
		if k.ack = max(k.ack, p.Seq+p.Len()); k.ack == end {
			return
		}
		k.send(frame.ACK)
	}
	t.Errorf("got up to %d, want %d", k.ack, end)
}
