package frame

import (
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

var sourceLink = header.NDPOptionsSerializer{header.NDPSourceLinkLayerAddressOption(peer[:])}

func TestSolicitation(t *testing.T) {
	group := solicitedNodeOf(serv6)
	if header.SolicitedNodeAddr(netstack(serv6)) != netstack(group) {
		t.Fatal("not the group of the address")
	}
	n, ok := ParseNeighbor(solicit(host6, group, serv6, sourceLink))
	if !ok || n != (NeighborMessage{HasLink: true, Link: peer, From: peer, Src: host6, Dst: group, Target: serv6}) {
		t.Errorf("%+v %v", n, ok)
	}
	if n, ok := ParseNeighbor(solicit(Addr{}, group, serv6, nil)); !ok || n.HasLink || n.Target != serv6 {
		t.Errorf("whether it is taken: %+v %v", n, ok)
	}
}

func TestSolicitationThatIsNone(t *testing.T) {
	group := solicitedNodeOf(serv6)
	good := solicit(host6, group, serv6, sourceLink)
	again := func(b []byte) []byte { resum6(b); return b }
	for name, b := range map[string][]byte{
		"cut off":                      good[:len(good)-1],
		"checksum":                     changed(good, 56, 1, 2),
		"through a router":             changed(good, 21, 254),
		"code":                         again(changed(good, 55, 1)),
		"another type":                 again(changed(good, 54, 134)),
		"not ICMPv6":                   changed(good, 20, 17),
		"not IPv6":                     changed(good, 12, 8, 0),
		"version":                      changed(good, 14, 0x40),
		"option of length zero":        again(changed(good, 79, 0)),
		"option behind the end":        again(changed(good, 79, 2)),
		"for a group":                  again(changed(good, 62, 0xff)),
		"from a group":                 again(changed(good, 22, 0xff)),
		"link of a group":              again(changed(good, 80, 0xff)),
		"from a group on the link":     changed(good, 6, 0xff),
		"from :: with a link":          solicit(Addr{}, group, serv6, sourceLink),
		"from :: to a unicast address": solicit(Addr{}, serv6, serv6, nil),
		"payload too short":            changed(good, 18, 0, 23),
	} {
		if n, ok := ParseNeighbor(b); ok {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

// advert lets gVisor read an advertisement.
func advert(t *testing.T, b []byte, to MAC) (ip header.IPv6, na header.NDPNeighborAdvert) {
	t.Helper()
	if MAC(b[:6]) != to || MAC(b[6:12]) != own {
		t.Errorf("from %v to %v", MAC(b[6:12]), MAC(b[:6]))
	}
	ip = header.IPv6(b[etherSize:])
	if !ip.IsValid(len(ip)) || ip.HopLimit() != header.NDPHopLimit || ip.TransportProtocol() != header.ICMPv6ProtocolNumber {
		t.Errorf("not a good header: %x", b)
	}
	icmp := header.ICMPv6(ip.Payload())
	sum := header.ICMPv6Checksum(header.ICMPv6ChecksumParams{Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress()})
	if icmp.Type() != header.ICMPv6NeighborAdvert || icmp.Code() != 0 || icmp.Checksum() != sum {
		t.Errorf("not a good message: %x", b)
	}
	na = header.NDPNeighborAdvert(icmp.MessageBody())
	it, err := na.Options().Iter(true)
	if err != nil {
		t.Fatal(err)
	}
	o, _, _ := it.Next()
	link, ok := o.(header.NDPTargetLinkLayerAddressOption)
	if _, done, _ := it.Next(); !ok || !done || link.EthernetAddress() != tcpip.LinkAddress(own[:]) {
		t.Errorf("options: %v", o)
	}
	return ip, na
}

func TestAdverts(t *testing.T) {
	asked := NeighborMessage{From: MAC{2, 3}, Src: host6, Target: serv6}
	ip, na := advert(t, AppendAdvert(nil, &asked, own), MAC{2, 3})
	if na.TargetAddress() != netstack(serv6) || !na.SolicitedFlag() || !na.OverrideFlag() || na.RouterFlag() ||
		ip.SourceAddress() != netstack(serv6) || ip.DestinationAddress() != netstack(host6) {
		t.Errorf("solicited: %x", []byte(ip))
	}
	asked.HasLink, asked.Link = true, peer
	advert(t, AppendAdvert(nil, &asked, own), peer)

	asked = NeighborMessage{Src: Addr{}, Target: serv6}
	for _, b := range [][]byte{AppendAdvert(nil, &asked, own), AppendUnsolicitedAdvert(nil, own, &serv6)} {
		ip, na = advert(t, b, MAC{0x33, 0x33, 0, 0, 0, 1})
		if na.TargetAddress() != netstack(serv6) || na.SolicitedFlag() || !na.OverrideFlag() ||
			ip.SourceAddress() != netstack(serv6) || ip.DestinationAddress() != header.IPv6AllNodesMulticastAddress {
			t.Errorf("to all: %x", b)
		}
		n, ok := ParseNeighbor(b)
		if !ok || n != (NeighborMessage{Advert: true, Override: true, HasLink: true, Link: own, From: own,
			Src: serv6, Dst: allNodes, Target: serv6}) {
			t.Errorf("%+v %v", n, ok)
		}
	}
}

// To all, and yet "you asked for it": RFC 4861 7.1.2 forbids it.
func TestAdvertThatIsNone(t *testing.T) {
	b := changed(AppendUnsolicitedAdvert(nil, own, &serv6), 58, flagSolicited)
	resum6(b)
	if n, ok := ParseNeighbor(b); ok {
		t.Errorf("%+v", n)
	}
}
