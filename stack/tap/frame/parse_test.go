package frame

import (
	"slices"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/header"
)

func TestKinds(t *testing.T) {
	v4, v6 := syn(flow4), syn(flow6)
	from := func(f Flow, src string) []byte { f.Src = addr(src); return syn(f) }
	to := func(f Flow, dst string) []byte { f.Dst = addr(dst); return syn(f) }
	short := data(flow4, make([]byte, 10))
	first, second := fragments(data(flow4, make([]byte, 100)))
	fixed := func(b []byte) []byte { resum(b); return b }
	mapped := changed(v6, etherSize+8, client[:]...)
	for name, c := range map[string]struct {
		want  Kind
		frame []byte
	}{
		"SYN":                           {TCP, v4},
		"SYN over IPv6":                 {TCP, v6},
		"data":                          {TCP, short},
		"padding":                       {TCP, append(data(flow4, nil), make([]byte, 20)...)},
		"empty":                         {Bad, nil},
		"half an Ethernet header":       {Bad, v4[:13]},
		"Ethernet header alone":         {Bad, v4[:14]},
		"half an IPv4 header":           {Bad, v4[:33]},
		"half an IPv6 header":           {Bad, v6[:53]},
		"IPv4 cut off":                  {Bad, v4[:len(v4)-1]},
		"IPv6 cut off":                  {Bad, v6[:len(v6)-1]},
		"version 5":                     {Bad, changed(v4, 14, 0x55)},
		"version 6 as IPv4":             {Bad, fixed(changed(v4, 14, 0x65))},
		"version 4 as IPv6":             {Bad, changed(v6, 14, 0x40)},
		"IPv4 header of 16 bytes":       {Bad, changed(v4, 14, 0x44)},
		"total length below header":     {Bad, changed(insert4(v4, make([]byte, 40)), 16, 0, 59)},
		"total length zero":             {Bad, changed(v4, 16, 0, 0)},
		"IPv4 header checksum":          {Bad, changed(v4, 24, v4[24]^1)},
		"IPv4 ends inside TCP":          {Bad, fixed(changed(v4, 16, 0, 39))},
		"IPv6 ends inside TCP":          {Bad, changed(v6, 18, 0, 19)},
		"IPv6 without payload":          {Bad, changed(v6, 18, 0, 0)},
		"data offset 16":                {Bad, fixed(changed(v4, 46, 0x40))},
		"data offset behind the end":    {Bad, fixed(changed(v4, 46, 0xf0))},
		"data offset into padding":      {Bad, append(fixed(changed(data(flow4, nil), 46, 0x90)), make([]byte, 60)...)},
		"another's unicast address":     {Foreign, changed(v4, 0, 2, 0, 0, 0, 0, 9)},
		"TCP by broadcast":              {Foreign, changed(v4, 0, Broadcast[:]...)},
		"TCP by multicast":              {Foreign, changed(v6, 0, 0x33, 0x33)},
		"TCP to a multicast address":    {Foreign, to(flow4, "239.1.2.3")},
		"TCP to the broadcast address":  {Foreign, to(flow4, "255.255.255.255")},
		"TCP to 0.0.0.0":                {Foreign, to(flow4, "0.0.0.0")},
		"TCP to ff02::1":                {Foreign, to(flow6, "ff02::1")},
		"TCP to ::":                     {Foreign, to(flow6, "::")},
		"from a group on the link":      {Bad, changed(v4, 6, 3)},
		"from nobody on the link":       {Bad, changed(v4, 6, 0, 0, 0, 0, 0, 0)},
		"from a multicast address":      {Bad, from(flow4, "224.0.0.1")},
		"from the broadcast address":    {Bad, from(flow4, "255.255.255.255")},
		"from 0.0.0.0":                  {Bad, from(flow4, "0.0.0.0")},
		"from loopback":                 {Bad, from(flow4, "127.0.0.1")},
		"to loopback":                   {Bad, to(flow4, "127.1.2.3")},
		"from class E":                  {TCP, from(flow4, "240.0.0.1")},
		"from ff02::1":                  {Bad, from(flow6, "ff02::1")},
		"from ::":                       {Bad, from(flow6, "::")},
		"from ::1":                      {Bad, from(flow6, "::1")},
		"to ::1":                        {Bad, to(flow6, "::1")},
		"from a mapped address":         {Bad, mapped},
		"from ::198.18.7.9":             {TCP, from(flow6, "::c612:709")},
		"link-local":                    {TCP, from(flow6, "fe80::1")},
		"IPv4 options":                  {Other, insert4(v4, []byte{1, 1, 1, 0})},
		"first fragment":                {Other, first},
		"overlapping fragment":          {Other, second},
		"reserved bit":                  {TCP, fixed(changed(v4, 20, 0x80))},
		"UDP":                           {Other, fixed(changed(v4, 23, 17))},
		"UDP from 0.0.0.0":              {Other, fixed(changed(from(flow4, "0.0.0.0"), 23, 17))},
		"UDP by broadcast":              {Other, fixed(changed(changed(v4, 23, 17), 0, Broadcast[:]...))},
		"hop by hop":                    {Other, insert6(v6, 0, make([]byte, 8))},
		"IPv6 fragment":                 {Other, insert6(v6, 44, make([]byte, 8))},
		"ping over IPv6":                {Other, changed(changed(v6, 20, 58), 54, 128)},
		"ICMPv6 of no bytes":            {Other, changed(changed(v6, 20, 58), 18, 0, 0)},
		"solicitation of 23 bytes":      {Bad, changed(changed(changed(v6, 20, 58), 54, 135), 18, 0, 23)},
		"solicitation":                  {Neighbor, solicit(host6, serv6, serv6, nil)},
		"advertisement":                 {Neighbor, AppendUnsolicitedAdvert(nil, peer, &host6)},
		"ARP":                           {ARP, request()},
		"ARP cut off":                   {Bad, request()[:41]},
		"VLAN":                          {Unknown, changed(v4, 12, 0x81, 0)},
		"length instead of EtherType":   {Unknown, changed(v4, 12, 0, 50)},
		"VLAN for another":              {Foreign, changed(changed(v4, 12, 0x81, 0), 5, 9)},
		"only flags that make no sense": {TCP, raw(flow4, 0xff, nil)},
	} {
		var p Packet
		if got := p.Parse(c.frame, own); got != c.want || p.Kind != got {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	payload := []byte("hello")
	for _, f := range []Flow{flow4, flow6} {
		b := append(AppendTCP(nil, &f, &Header{Seq: 1<<32 - 3, Ack: 77, Flags: FIN | ACK | PSH, Window: 512,
			Options: &Options{TS: true}}, payload), 0, 0)
		var p Packet
		p.Parse(b, own)
		l4 := etherSize + ip4Size
		if !Is4(&f.Src) {
			l4 = etherSize + ip6Size
		}
		want := Packet{Kind: TCP, V6: !Is4(&f.Src), From: peer, L4: l4, Data: l4 + 32, End: l4 + 37, Src: f.Src, Dst: f.Dst,
			SrcPort: f.SrcPort, DstPort: f.DstPort, Seq: 1<<32 - 3, Ack: 77, Flags: FIN | ACK | PSH, Window: 512}
		if p != want {
			t.Errorf("%+v, want %+v", p, want)
		}
		if p.Len() != 6 || !p.Has(FIN|ACK) || p.Has(SYN|ACK) || string(b[p.Data:p.End]) != "hello" {
			t.Errorf("a length of %d", p.Len())
		}
		if r := p.Reply(own); r != (Flow{own, peer, f.Dst, f.Src, f.DstPort, f.SrcPort}) {
			t.Errorf("the reply goes %+v", r)
		}
	}
}

// What netstack gets has its addresses set, since the last hop is learnt from it.
func TestOtherHasAddresses(t *testing.T) {
	first, _ := fragments(data(flow4, make([]byte, 100)))
	for _, b := range [][]byte{first, insert6(syn(flow6), 0, make([]byte, 8)), insert4(syn(flow4), make([]byte, 4))} {
		var p Packet
		if p.Parse(b, own) != Other || p.Src != flow4.Src && p.Src != flow6.Src || p.End != len(b) || p.From != peer {
			t.Errorf("%+v", p)
		}
	}
}

// Nothing is left of the frame before.
func TestParseStartsAnew(t *testing.T) {
	var p, fresh Packet
	for _, b := range seeds() {
		p.Parse(data(flow6, []byte("x")), own)
		p.Parse(b, own)
		fresh = Packet{}
		fresh.Parse(b, own)
		if p != fresh {
			t.Fatalf("%x: %+v, and on an empty packet %+v", b, p, fresh)
		}
	}
}

// A TSO frame is as long as IP can say.
func TestLargest(t *testing.T) {
	for _, f := range []Flow{flow4, flow6} {
		n := 0xffff - tcpSize
		if Is4(&f.Src) {
			n -= ip4Size
		}
		b := AppendTCP(nil, &f, &Header{Flags: ACK}, make([]byte, n))
		var p Packet
		if p.Parse(b, own) != TCP || p.End != len(b) || p.End-p.Data != n || !p.ChecksumOK(b) {
			t.Errorf("%d bytes: %+v", len(b), p)
		}
		if p.ParseHead(b[:Head], len(b), own) != TCP || p.End != len(b) {
			t.Errorf("from its head: %+v", p)
		}
	}
}

// The head of a frame says the same as all of it, and a checksum is the same
// wherever the frame is cut in two.
func TestHeadIsEnough(t *testing.T) {
	long := slices.Repeat([]byte("0123456789abcde"), 10)
	for _, b := range slices.Concat(seeds(), [][]byte{data(flow4, long), data(flow6, long)}) {
		var whole, head Packet
		whole.Parse(b, own)
		head.ParseHead(b[:min(len(b), Head)], len(b), own)
		if whole != head {
			t.Fatalf("%x: %+v, its head %+v", b, whole, head)
		}
		if whole.Kind != TCP {
			continue
		}
		for cut := whole.Data; cut <= len(b); cut++ {
			if whole.ChecksumSplit(b[:cut], b[cut:]) != whole.ChecksumOK(b) {
				t.Fatalf("%x cut at %d", b, cut)
			}
		}
	}
}

func TestChecksumSeesEachBit(t *testing.T) {
	for _, f := range []Flow{flow4, flow6} {
		b := append(data(f, []byte("odd")), 1, 2, 3)
		var p Packet
		p.Parse(b, own)
		for bit := range len(b) * 8 {
			b[bit/8] ^= 1 << (bit % 8)
			at := bit / 8
			if want := at < p.L4 || at >= p.End; p.ChecksumOK(b) != want {
				t.Fatalf("bit %d changed: %v", bit, !want)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
		// The addresses count as well.
		p.Src[15]++
		if p.ChecksumOK(b) {
			t.Error("another address has the same checksum")
		}
	}
}

func TestStrings(t *testing.T) {
	if s := own.String(); s != "02:00:00:00:00:01" {
		t.Error(s)
	}
	if Foreign.String() != "foreign" || Unknown.String() != "unknown" || Kind(200).String() != "kind?" {
		t.Error("kinds have the wrong names")
	}
	for f, want := range map[uint8]header.TCPFlags{FIN: header.TCPFlagFin, SYN: header.TCPFlagSyn, RST: header.TCPFlagRst,
		PSH: header.TCPFlagPsh, ACK: header.TCPFlagAck, URG: header.TCPFlagUrg} {
		if header.TCPFlags(f) != want {
			t.Errorf("%v has another's bit", want)
		}
	}
}
