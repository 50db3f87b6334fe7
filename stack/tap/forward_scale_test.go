package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// A client that has proven itself was told how we shift windows, which may not be how
// its server does: neither takes the other's for larger than they are, nor for
// much smaller.
func TestForwardProvenWindows(t *testing.T) {
	for _, ws := range []int8{-1, 0, 2, 8, 14} {
		r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Proof: ProofAlways})
		c := r.client(1)
		c.syn()
		p, b := c.next()
		told := p.Options(b).WS
		c.seq, c.ack = p.Ack, p.Seq+1
		c.opts.TSEcr = p.Options(b).TSVal
		c.send(frame.ACK, "")
		s, _ := r.serverSyn()
		s.opts.WS = ws
		s.answer()
		p, _ = c.next()
		sane(t, ws, uint32(p.Window)<<told, 60000)
		p, _ = c.next()
		sane(t, ws, uint32(p.Window)<<told, 60000)
		c.send(frame.ACK, "")
		p = s.want(frame.ACK, "")
		offered := uint32(65000) << c.opts.WS
		if ws < 0 {
			sane(t, ws, uint32(p.Window), min(offered, 65535))
		} else {
			sane(t, ws, uint32(p.Window)<<c.opts.WS, offered)
		}
		s.send(frame.ACK, "hello")
		s.seq += 5
		p = c.want(frame.ACK, "hello")
		sane(t, ws, uint32(p.Window)<<told, min(uint32(60000)<<max(ws, 0), uint32(65535)<<told))
		r.pass(time.Second)
		s.send(frame.RST|frame.ACK, "")
		r.drainServer()
		r.told = nil
	}
}

func sane(t *testing.T, ws int8, got, offered uint32) {
	t.Helper()
	if got > offered || got < offered/2 {
		t.Errorf("the server shifts by %d: a window of %d, offered were %d", ws, got, offered)
	}
}
