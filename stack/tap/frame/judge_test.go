package frame

import (
	"bytes"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"pgregory.net/rapid"
)

func anyFlow(t *rapid.T) Flow {
	f := Flow{SrcMAC: peer, DstMAC: own,
		SrcPort: rapid.Uint16().Draw(t, "from"), DstPort: rapid.Uint16().Draw(t, "to")}
	from := 0
	if f.Src = client; rapid.Bool().Draw(t, "six") {
		f.Src = host6
	} else {
		from = 13
	}
	f.Dst = f.Src
	tail := 16 - from
	copy(f.Src[from:], rapid.SliceOfN(rapid.ByteRange(1, 126), tail, tail).Draw(t, "src"))
	copy(f.Dst[from:], rapid.SliceOfN(rapid.ByteRange(1, 126), tail, tail).Draw(t, "dst"))
	return f
}

// judgeIP lets gVisor look at the headers below TCP and returns what is above.
func judgeIP(t *rapid.T, b []byte, f *Flow, proto tcpip.TransportProtocolNumber) []byte {
	eth := header.Ethernet(b)
	if eth.SourceAddress() != tcpip.LinkAddress(f.SrcMAC[:]) || eth.DestinationAddress() != tcpip.LinkAddress(f.DstMAC[:]) {
		t.Fatalf("from %v to %v", eth.SourceAddress(), eth.DestinationAddress())
	}
	b = b[header.EthernetMinimumSize:]
	var ip header.Network = header.IPv6(b)
	sound, hops := header.IPv6(b).IsValid(len(b)), header.IPv6(b).HopLimit()
	want := tcpip.NetworkProtocolNumber(header.IPv6ProtocolNumber)
	if Is4(&f.Src) {
		v4 := header.IPv4(b)
		ip, sound, hops = v4, v4.IsValid(len(b)) && v4.IsChecksumValid(), v4.TTL()
		want = header.IPv4ProtocolNumber
	}
	if !sound || eth.Type() != want || ip.TransportProtocol() != proto || len(ip.Payload()) == 0 || hops < 64 ||
		ip.SourceAddress() != netstack(f.Src) || ip.DestinationAddress() != netstack(f.Dst) {
		t.Fatalf("gVisor does not take %x", b)
	}
	return ip.Payload()
}

func judgeTCP(t *rapid.T, b []byte, f *Flow) header.TCP {
	seg := header.TCP(judgeIP(t, b, f, header.TCPProtocolNumber))
	if n := int(seg.DataOffset()); n < header.TCPMinimumSize || n > len(seg) {
		t.Fatalf("a data offset of %d in %d bytes", n, len(seg))
	}
	rest := seg.Payload()
	if !seg.IsChecksumValid(netstack(f.Src), netstack(f.Dst), checksum.Checksum(rest, 0), uint16(len(rest))) {
		t.Fatalf("wrong checksum: %x", b)
	}
	if seg.SourcePort() != f.SrcPort || seg.DestinationPort() != f.DstPort {
		t.Fatalf("ports %d, %d", seg.SourcePort(), seg.DestinationPort())
	}
	return seg
}

// gVisor reads of a segment what we wrote, and so do we.
func TestTCPBeforeTheJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, o := anyFlow(t), anyOptions(t)
		h := Header{Seq: rapid.Uint32().Draw(t, "seq"), Ack: rapid.Uint32().Draw(t, "ack"),
			Flags: rapid.Byte().Draw(t, "flags"), Window: rapid.Uint16().Draw(t, "window"), Options: &o}
		payload := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload")
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		b := AppendTCP(bytes.Clone(before), &f, &h, payload)
		if !bytes.HasPrefix(b, before) {
			t.Fatal("what was there is gone")
		}
		b = b[len(before):]
		seg := judgeTCP(t, b, &f)
		if seg.SequenceNumber() != h.Seq || seg.AckNumber() != h.Ack || byte(seg.Flags()) != h.Flags ||
			seg.WindowSize() != h.Window || seg.UrgentPointer() != 0 || !bytes.Equal(seg.Payload(), payload) {
			t.Fatalf("gVisor reads %x otherwise", b)
		}
		var p Packet
		if p.Parse(b, own) != TCP || !p.ChecksumOK(b) || !bytes.Equal(b[p.Data:p.End], payload) || p.Src != f.Src ||
			p.Dst != f.Dst || p.SrcPort != f.SrcPort || p.DstPort != f.DstPort || p.Seq != h.Seq || p.Ack != h.Ack ||
			p.Flags != h.Flags || p.Window != h.Window {
			t.Fatalf("%x is parsed as %+v", b, p)
		}
	})
}

// RFC 9293 3.10.7.1.
func TestResetBeforeTheJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFlow(t)
		h := Header{Seq: rapid.Uint32().Draw(t, "seq"), Ack: rapid.Uint32().Draw(t, "ack"), Flags: rapid.Byte().Draw(t, "flags")}
		payload := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "payload")
		b := AppendTCP(nil, &f, &h, payload)
		var p Packet
		p.Parse(b, own)
		r := AppendReset(nil, &p, own)
		if h.Flags&RST != 0 {
			if len(r) != 0 {
				t.Fatal("a reset was answered")
			}
			return
		}
		back := p.Reply(own)
		seg := judgeTCP(t, r, &back)
		seq, ack, flags := uint32(0), h.Seq+uint32(len(payload)), header.TCPFlags(RST|ACK)
		if h.Flags&SYN != 0 {
			ack++
		}
		if h.Flags&FIN != 0 {
			ack++
		}
		if h.Flags&ACK != 0 {
			seq, ack, flags = h.Ack, 0, RST
		}
		if seg.SequenceNumber() != seq || seg.AckNumber() != ack || seg.Flags() != flags || len(seg) != tcpSize {
			t.Fatalf("%x is answered by %x", b, r)
		}
	})
}

func TestARPBeforeTheJudge(t *testing.T) {
	a, ok := ParseARP(request())
	if !ok || a != (ARPMessage{Op: ARPRequest, Sender: peer, SenderIP: client, TargetIP: server}) {
		t.Fatalf("%+v %v", a, ok)
	}
	check := func(b []byte, to MAC, op header.ARPOp, sender, target MAC, ip, tip Addr) {
		t.Helper()
		eth, m := header.Ethernet(b), header.ARP(b[header.EthernetMinimumSize:])
		if eth.Type() != header.ARPProtocolNumber || MAC([]byte(eth.DestinationAddress())) != to ||
			MAC([]byte(eth.SourceAddress())) != sender || !m.IsValid() || m.Op() != op ||
			MAC(m.HardwareAddressSender()) != sender || MAC(m.HardwareAddressTarget()) != target ||
			!bytes.Equal(m.ProtocolAddressSender(), ip[12:]) || !bytes.Equal(m.ProtocolAddressTarget(), tip[12:]) {
			t.Errorf("%x", b)
		}
	}
	check(request(), Broadcast, header.ARPRequest, peer, MAC{}, client, server)
	check(AppendARPReply(nil, &a, own), peer, header.ARPReply, own, peer, server, client)
	check(AppendGratuitousARP(nil, own, &server), Broadcast, header.ARPRequest, own, MAC{}, server, server)
	probe := ARPMessage{Op: ARPRequest, Sender: peer, SenderIP: addr("0.0.0.0"), TargetIP: server}
	check(AppendARPReply(nil, &probe, own), peer, header.ARPReply, own, peer, server, addr("0.0.0.0"))
}

func TestARPThatIsNone(t *testing.T) {
	for name, b := range map[string][]byte{
		"cut off":                request()[:41],
		"not Ethernet":           changed(request(), 14, 0, 6),
		"not IPv4":               changed(request(), 16, 0x86, 0xdd),
		"hardware address of 8":  changed(request(), 18, 8),
		"address of 16":          changed(request(), 19, 16),
		"RARP":                   changed(request(), 20, 0, 3),
		"from a group":           changed(request(), 22, 0xff),
		"from nobody":            changed(request(), 22, 0, 0, 0, 0, 0, 0),
		"of a multicast address": changed(request(), 28, 224),
		"of loopback":            changed(request(), 28, 127),
		"not ARP":                changed(request(), 12, 8, 0),
	} {
		if a, ok := ParseARP(b); ok {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if _, ok := ParseARP(append(request(), make([]byte, 18)...)); !ok {
		t.Error("padding is not taken")
	}
}
