package frame

import "gvisor.dev/gvisor/pkg/tcpip/checksum"

// Types of ICMPv6, flags and options of neighbour discovery (RFC 4861).
const (
	solicitation  = 135
	advertisement = 136

	flagSolicited = 0x40
	flagOverride  = 0x20

	optSource = 1 // source's link-layer address
	optTarget = 2 // target's link-layer address

	// neighborSize is the size of either message without its options.
	neighborSize = 24
	// linkSize is the size of an option with an Ethernet address.
	linkSize = 8
)

// NeighborMessage is a neighbour solicitation ("who has Target?") or
// advertisement ("Link has Target"). A solicitation from the zero address asks
// whether Target is taken; it is answered to all.
type NeighborMessage struct {
	Advert              bool
	Solicited, Override bool // flags of an advertisement
	HasLink             bool // there was an option with an Ethernet address
	Link                MAC  // that address: the sender's, or the target's in an advertisement
	From                MAC  // Ethernet source
	Src, Dst, Target    Addr
}

// ParseNeighbor reads a frame of kind Neighbor. It is ok only if all holds that
// RFC 4861 7.1 demands, among it a right checksum and that no router had it in
// its hands (a hop limit of 255).
func ParseNeighbor(b []byte) (n NeighborMessage, ok bool) {
	const at = etherSize + ip6Size
	if len(b) < at+neighborSize || be.Uint16(b[12:]) != typeIP6 {
		return n, false
	}
	h := b[etherSize:at]
	end := at + int(be.Uint16(h[4:]))
	if h[0]>>4 != 6 || h[6] != protoICMPv6 || h[7] != 255 || end < at+neighborSize || end > len(b) {
		return n, false
	}
	m := b[at:end]
	n.From, n.Src, n.Dst, n.Target = MAC(b[6:12]), Addr(h[8:24]), Addr(h[24:40]), Addr(m[8:24])
	n.Advert = m[0] == advertisement
	n.Solicited = n.Advert && m[4]&flagSolicited != 0
	n.Override = n.Advert && m[4]&flagOverride != 0
	sound := (n.Advert || m[0] == solicitation) && m[1] == 0 &&
		checksum.Checksum(m, pseudo(&n.Src, &n.Dst, len(m), protoICMPv6)) == 0xffff
	return n, sound && n.options(m[neighborSize:]) && n.sane()
}

// options looks for the one option that matters; one of length zero makes the
// whole message void.
func (n *NeighborMessage) options(list []byte) bool {
	want := byte(optSource)
	if n.Advert {
		want = optTarget
	}
	for len(list) > 0 {
		if len(list) < 2 || list[1] == 0 || int(list[1])*8 > len(list) {
			return false
		}
		size := int(list[1]) * 8
		if list[0] == want && size == linkSize {
			n.HasLink, n.Link = true, MAC(list[2:8])
		}
		list = list[size:]
	}
	return true
}

// sane checks the addresses against each other.
func (n *NeighborMessage) sane() bool {
	if n.Target[0] == 0xff || n.Src[0] == 0xff || n.From.Group() || n.HasLink && n.Link.Group() {
		return false
	}
	if n.Advert {
		return n.Dst[0] != 0xff || !n.Solicited
	}
	if n.Src == (Addr{}) {
		return !n.HasLink && [13]byte(n.Dst[:13]) == [13]byte(solicitedNode[:13])
	}
	return true
}

var (
	// allNodes is everybody on the link, and its Ethernet address.
	allNodes    = Addr{0xff, 2, 15: 1}
	allNodesMAC = MAC{0x33, 0x33, 0, 0, 0, 1}
	// solicitedNode is where a solicitation goes whose target's last three
	// bytes take the place of the last three here.
	solicitedNode = Addr{0xff, 2, 11: 1, 12: 0xff}
)

// AppendAdvert appends the answer to a solicitation: own has its target. It goes
// to who asked, or to all if that was the zero address (RFC 4861 7.2.4).
func AppendAdvert(dst []byte, n *NeighborMessage, own MAC) []byte {
	if n.Src == (Addr{}) {
		return AppendUnsolicitedAdvert(dst, own, &n.Target)
	}
	f := Flow{SrcMAC: own, DstMAC: n.From, Src: n.Target, Dst: n.Src}
	if n.HasLink {
		f.DstMAC = n.Link
	}
	return appendAdvert(dst, &f, flagSolicited|flagOverride)
}

// AppendUnsolicitedAdvert appends an announcement to all: own has ip, an IPv6
// address.
func AppendUnsolicitedAdvert(dst []byte, own MAC, ip *Addr) []byte {
	f := Flow{SrcMAC: own, DstMAC: allNodesMAC, Src: *ip, Dst: allNodes}
	return appendAdvert(dst, &f, flagOverride)
}

func appendAdvert(dst []byte, f *Flow, flags uint8) []byte {
	const size = neighborSize + linkSize
	dst, m := appendIP(dst, f, size, protoICMPv6, 255)
	m[0], m[4] = advertisement, flags
	copy(m[8:], f.Src[:])
	m[24], m[25] = optTarget, linkSize/8
	copy(m[26:], f.SrcMAC[:])
	be.PutUint16(m[2:], ^checksum.Checksum(m, pseudo(&f.Src, &f.Dst, size, protoICMPv6)))
	return dst
}
