package hop

import "penstock/stack/tap/frame"

// numbers gives Ethernet addresses small numbers, for records that have no room
// for six bytes.
type numbers struct {
	of   map[frame.MAC]uint16
	macs []frame.MAC // number i's is macs[i-1]
	next int         // index that is overwritten next, when all are given out

	recent  frame.MAC // asked for last, most often the router's
	recentI uint16
}

const mostNumbers = 1<<16 - 1

// Intern returns a number for mac, from 1 on, to be kept in records. When all
// 65,535 are given out, the oldest is given out again: who still holds it
// finds another's address there.
func (n *numbers) Intern(mac frame.MAC) uint16 {
	if mac != n.recent || n.recentI == 0 {
		n.recent, n.recentI = mac, n.number(mac)
	}
	return n.recentI
}

func (n *numbers) number(mac frame.MAC) uint16 {
	if i, ok := n.of[mac]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[frame.MAC]uint16{}
	}
	if len(n.macs) < mostNumbers {
		n.macs = append(n.macs, mac)
		n.of[mac] = uint16(len(n.macs))
		return uint16(len(n.macs))
	}
	i := n.next
	n.next = (i + 1) % mostNumbers
	delete(n.of, n.macs[i])
	n.macs[i] = mac
	n.of[mac] = uint16(i + 1)
	return uint16(i + 1)
}

// MAC returns what was interned as i; the zero address if nothing was.
func (n *numbers) MAC(i uint16) frame.MAC {
	if i == 0 || int(i) > len(n.macs) {
		return frame.MAC{}
	}
	return n.macs[i-1]
}
