package tap

import (
	"net/netip"
	"testing"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// With one device for both sides, and its own address standing for clients, what a
// server says may come to a loop that does not know the server. It is for the loop
// whose port that is, and not for netstack, which would reset it.
func TestForwardOneArmOwnAddress(t *testing.T) {
	r := bareRig(t, 2, func(c *Config) { c.Flows = 100 })
	r.listen(web, Virtual{Listen: at4, Forward: true, SNAT: []netip.Addr{own4.Addr()}})
	server := netip.MustParseAddrPort("198.18.0.50:8080")
	own := frame.Addr(own4.Addr().As16())
	pool := r.fwd.common.pools.pool(placeOf(server), own)
	port, ok := pool.Take(1, r.now, func(uint16) bool { return true })
	if !ok {
		t.Fatal("no port")
	}
	r.settle()
	r.dev.Take()
	f := frame.Flow{
		SrcMAC: ether.Router, DstMAC: ether.Own, Src: server.Addr().As16(), SrcPort: server.Port(), Dst: own, DstPort: port,
	}
	for _, flags := range []uint8{frame.SYN | frame.ACK, frame.ACK} {
		before := r.totals().PassedOn
		r.dev.Send(frame.AppendTCP(nil, &f, &frame.Header{Seq: 7, Ack: 8, Flags: flags}, nil))
		r.settle()
		if n := r.totals().PassedOn - before; n != 1 {
			t.Errorf("flags %#x: %d frames were handed over", flags, n)
		}
	}
	for _, b := range r.dev.Take() {
		t.Errorf("sent %x", b)
	}
	// What is for nobody's port is netstack's, as without servers.
	f.DstPort++
	r.dev.Send(frame.AppendTCP(nil, &f, &frame.Header{Seq: 7, Ack: 8, Flags: frame.ACK}, nil))
	r.until("a reset", func() bool {
		for _, b := range r.dev.Take() {
			var p frame.Packet
			return p.Parse(b, ether.Router) == frame.TCP && p.Flags == frame.RST
		}
		return false
	})
}
