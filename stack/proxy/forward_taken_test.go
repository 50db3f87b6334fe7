package proxy

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"penstock/stack/kernel"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// Without SNAT a client that uses one port towards two virtual servers can't have one
// server by both. That is its own affair: whoever comes behind it does not wait, and
// it is refused, as where a server does not answer.
func TestForwardPortTaken(t *testing.T) {
	var link, back *ether.Device
	r := start(t, member(behind, 5), overTwo(&link, &back), tries(3))
	echoHost(t, back)
	second := netip.MustParseAddrPort("198.18.0.101:80")
	v := r.virtuals[0]
	v.Listen = kernel.Address{AddrPort: second}
	id, _ := r.addVirtual(v)
	const port = 4000
	dial := func(h *ether.Host, to netip.AddrPort) (*gonet.TCPConn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		return h.Dial(ctx, port, to)
	}
	first, err := dial(host(t, link, 1), vip)
	if err != nil {
		t.Fatal(err)
	}
	r.untilInUse(1)
	f := frame.Flow{
		SrcMAC: ether.Router, DstMAC: ether.Own, Src: netip.AddrFrom4([4]byte{198, 18, 1, 1}).As16(), SrcPort: port, Dst: second.Addr().As16(), DstPort: second.Port(),
	}
	link.Send(frame.AppendTCP(nil, &f, &frame.Header{Seq: 7, Flags: frame.SYN, Window: 65000, Options: &frame.Options{MSS: 1460, WS: 7}}, nil))
	until(t, func() bool { return r.TapTotals().PortsOut > 0 }, "its port is taken")
	c, err := dial(host(t, link, 2), second)
	if err != nil {
		t.Fatalf("who comes behind it: %v", err)
	}
	if e := r.wantEnd(DialFailed); e.Virtual != id {
		t.Errorf("of virtual server %d", e.Virtual)
	}
	for _, c := range []*gonet.TCPConn{first, c} { // both work
		c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Error(err)
		}
		if _, err := c.Read(make([]byte, 5)); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}
