package frame

import (
	"bytes"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

func TestARPRequestBeforeTheJudge(t *testing.T) {
	for _, to := range []MAC{Broadcast, peer} {
		b := AppendARPRequest([]byte("before"), own, to, &server, &client)
		b, ok := bytes.CutPrefix(b, []byte("before"))
		if !ok {
			t.Fatal("what was there is gone")
		}
		eth, m := header.Ethernet(b), header.ARP(b[header.EthernetMinimumSize:])
		if MAC([]byte(eth.DestinationAddress())) != to || MAC([]byte(eth.SourceAddress())) != own ||
			eth.Type() != header.ARPProtocolNumber || !m.IsValid() || m.Op() != header.ARPRequest ||
			MAC(m.HardwareAddressSender()) != own || MAC(m.HardwareAddressTarget()) != (MAC{}) ||
			!bytes.Equal(m.ProtocolAddressSender(), server[12:]) || !bytes.Equal(m.ProtocolAddressTarget(), client[12:]) {
			t.Errorf("to %v: %x", to, b)
		}
		a, ok := ParseARP(b)
		if !ok || a != (ARPMessage{Op: ARPRequest, Sender: own, SenderIP: server, TargetIP: client}) {
			t.Errorf("%+v %v", a, ok)
		}
	}
}

func TestSolicitBeforeTheJudge(t *testing.T) {
	group := solicitedNodeOf(host6)
	for _, c := range []struct {
		to, mac MAC
		dst     Addr
	}{
		{Broadcast, MAC([]byte(header.EthernetAddressFromMulticastIPv6Address(netstack(group)))), group},
		{peer, peer, host6},
	} {
		b := AppendSolicit([]byte("before"), own, c.to, &serv6, &host6)
		b, ok := bytes.CutPrefix(b, []byte("before"))
		if !ok {
			t.Fatal("what was there is gone")
		}
		if MAC(b[:6]) != c.mac || MAC(b[6:12]) != own {
			t.Errorf("from %v to %v", MAC(b[6:12]), MAC(b[:6]))
		}
		judgeSolicit(t, b, c.dst)
		n, ok := ParseNeighbor(b)
		if !ok || n != (NeighborMessage{HasLink: true, Link: own, From: own, Src: serv6, Dst: c.dst, Target: host6}) {
			t.Errorf("%+v %v", n, ok)
		}
	}
}

// judgeSolicit lets gVisor read a solicitation for host6 by serv6.
func judgeSolicit(t *testing.T, b []byte, dst Addr) {
	t.Helper()
	ip := header.IPv6(b[etherSize:])
	if !ip.IsValid(len(ip)) || ip.HopLimit() != header.NDPHopLimit || ip.TransportProtocol() != header.ICMPv6ProtocolNumber ||
		ip.SourceAddress() != netstack(serv6) || ip.DestinationAddress() != netstack(dst) {
		t.Errorf("not a good header: %x", b)
	}
	icmp := header.ICMPv6(ip.Payload())
	sum := header.ICMPv6Checksum(header.ICMPv6ChecksumParams{Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress()})
	if icmp.Type() != header.ICMPv6NeighborSolicit || icmp.Code() != 0 || icmp.Checksum() != sum {
		t.Errorf("not a good message: %x", b)
	}
	ns := header.NDPNeighborSolicit(icmp.MessageBody())
	it, err := ns.Options().Iter(true)
	if err != nil {
		t.Fatal(err)
	}
	o, _, _ := it.Next()
	link, ok := o.(header.NDPSourceLinkLayerAddressOption)
	if _, done, _ := it.Next(); !ok || !done || link.EthernetAddress() != tcpip.LinkAddress(own[:]) || ns.TargetAddress() != netstack(host6) {
		t.Errorf("option %v, target %v", o, ns.TargetAddress())
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	out := make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() {
		AppendARPRequest(out, own, Broadcast, &server, &client)
		AppendSolicit(out, own, Broadcast, &serv6, &host6)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
