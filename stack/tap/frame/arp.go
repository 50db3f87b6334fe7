package frame

// What an ARP message is (RFC 826).
const (
	ARPRequest = 1
	ARPReply   = 2
)

// arpSize is the size of an ARP message about IPv4 on Ethernet.
const arpSize = 28

// ARPMessage is a request ("who has TargetIP?") or a reply ("Sender has
// SenderIP"). A probe, with which a host sees whether an address is taken, is a
// request with a zero SenderIP; it is answered too. An announcement is a message
// whose SenderIP and TargetIP are the same.
type ARPMessage struct {
	Op                 uint16 // ARPRequest or ARPReply
	Sender, Target     MAC
	SenderIP, TargetIP Addr
}

// ParseARP reads a frame of kind ARP. It is not ok if it is truncated, about
// something else than IPv4 on Ethernet, or sent by nobody one could answer.
func ParseARP(b []byte) (a ARPMessage, ok bool) {
	if len(b) < etherSize+arpSize || be.Uint16(b[12:]) != typeARP {
		return a, false
	}
	m := b[etherSize : etherSize+arpSize]
	const ethernetOfIP4 = 1<<48 | typeIP4<<32 | 6<<24 | 4<<16
	what := be.Uint64(m)
	a.Op = uint16(what)
	if what&^0xffff != ethernetOfIP4 || a.Op != ARPRequest && a.Op != ARPReply {
		return a, false
	}
	a.Sender, a.Target = MAC(m[8:14]), MAC(m[18:24])
	put4(&a.SenderIP, m[14:18])
	put4(&a.TargetIP, m[24:28])
	return a, !a.Sender.Group() && a.Sender != (MAC{}) && m[14] < 224 && m[14] != 127
}

// AppendARPReply appends the answer to a request: own has its TargetIP.
func AppendARPReply(dst []byte, a *ARPMessage, own MAC) []byte {
	return appendARP(dst, a.Sender, &ARPMessage{
		Op: ARPReply, Sender: own, SenderIP: a.TargetIP, Target: a.Sender, TargetIP: a.SenderIP,
	})
}

// AppendGratuitousARP appends an announcement to all: own has ip, an IPv4
// address. It is a request, which is what all take (RFC 5227 3).
func AppendGratuitousARP(dst []byte, own MAC, ip *Addr) []byte {
	return appendARP(dst, Broadcast, &ARPMessage{Op: ARPRequest, Sender: own, SenderIP: *ip, TargetIP: *ip})
}

func appendARP(dst []byte, to MAC, a *ARPMessage) []byte {
	var b [etherSize + arpSize]byte
	putEther(b[:], a.Sender, to, typeARP)
	m := b[etherSize:]
	be.PutUint16(m, 1)
	be.PutUint16(m[2:], typeIP4)
	m[4], m[5] = 6, 4
	be.PutUint16(m[6:], a.Op)
	copy(m[8:], a.Sender[:])
	copy(m[14:], a.SenderIP[12:])
	copy(m[18:], a.Target[:])
	copy(m[24:], a.TargetIP[12:])
	return append(dst, b[:]...)
}
