package rewrite

import (
	"bytes"

	"penstock/stack/tap/frame"
)

// lists are options of TCP, most of them malformed.
var lists = [][]byte{
	{},
	{2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7},             // Linux
	{2, 4, 5, 0xb4, 1, 3, 3, 8, 1, 1, 4, 2},                                      // Windows
	{2, 4, 5, 0xb4, 1, 3, 3, 6, 1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 4, 2, 0, 0}, // macOS
	{1, 2, 4, 5, 0xb4, 1, 1, 1}, {3, 3, 7, 2, 4, 5, 0xb4, 0},                     // at odd places
	{1, 1, 5, 34, 32: 0, 35: 0}, // SACK blocks
	{1, 1, 1, 2}, {2, 0, 5, 0xb4}, {2, 1, 5, 0xb4}, {2, 3, 5, 1}, {2, 5, 5, 0xb4, 9, 0, 0, 0},
	{2, 4, 0, 0}, {2, 4, 5, 0xb4, 2, 4, 2, 0x18}, {1, 1, 2, 4}, {0, 2, 4, 5},
	{8, 10, 1, 1, 2, 4, 9, 9}, {255, 255, 1, 1},
}

// pieces cuts an IPv4 datagram in two, of which the second overlaps the first.
func pieces(b []byte) [][]byte {
	const cut = 24
	at := etherSize + ip4Size
	first, second := bytes.Clone(b[:at+cut]), append(bytes.Clone(b[:at]), b[at+cut-8:]...)
	be.PutUint16(first[16:], ip4Size+cut)
	be.PutUint16(first[offFragment4:], 0x2000)
	be.PutUint16(second[16:], uint16(len(second)-etherSize))
	be.PutUint16(second[offFragment4:], (cut-8)/8)
	return [][]byte{header4(first), header4(second)}
}

// header4 puts right the checksum of an IPv4 header of whatever length it says.
func header4(b []byte) []byte {
	be.PutUint16(b[offSum4:], 0)
	var sum uint32
	for i := etherSize; i+1 < min(len(b), etherSize+int(b[etherSize]&15)*4); i += 2 {
		sum += uint32(be.Uint16(b[i:]))
	}
	sum = sum>>16 + sum&0xffff
	be.PutUint16(b[offSum4:], ^uint16(sum>>16+sum))
	return b
}

// insert puts bytes between the IP header and what follows it, and makes the
// lengths fit: options of IPv4, or an extension header of some kind.
func insert(b []byte, kind byte, what []byte) []byte {
	p := parse(b)
	b = bytes.Join([][]byte{b[:p.L4], what, b[p.L4:]}, nil)
	if p.V6 {
		be.PutUint16(b[18:], uint16(p.End-p.L4+len(what)))
		b[offNext6], b[p.L4] = kind, b[offNext6]
		return b
	}
	b[etherSize] += byte(len(what) / 4)
	be.PutUint16(b[16:], uint16(p.End-etherSize+len(what)))
	return header4(b)
}

// sound are frames of all kinds in which nothing is wrong.
func sound() (all [][]byte) {
	for _, w := range []path{path4, path6} {
		for _, list := range lists {
			all = append(all, raw(w.in, frame.SYN, list))
		}
		ask, _ := ping(&w, []byte("ping"))
		all = append(all, ask, syn(w.in), data(w.in, nil), data(w.in, []byte("hello")), append(data(w.in, nil), 0, 0, 0),
			insert(syn(w.in), 60, []byte{1, 1, 1, 4, 0, 0, 0, 0}), insert(syn(w.in), 44, []byte{1, 1, 1, 1, 0, 0, 0, 0}))
		q := segment(w.out, 1)
		for _, n := range []int{0, 7, 8, 16, 17, 18, 20, 27} {
			all = append(all, w.unreachable().message(quote(q, n)))
		}
		inside := insert(q, 60, []byte{1, 1, 1, 4, 0, 0, 0, 0})
		b := w.unreachable().message(inside[etherSize:])
		all = append(all, b, insert(b, 0, []byte{1, 1, 1, 1, 0, 0, 0, 0}))
		for kind := byte(1); kind <= 12; kind++ {
			s := w.unreachable()
			s.kind, s.code, s.rest = kind, 4, 1400
			all = append(all, s.message(quote(q, 8)))
		}
	}
	long := data(path4.in, make([]byte, 100))
	all = append(all, pieces(long)...)
	all = append(all, path4.unreachable().message(pieces(data(path4.out, make([]byte, 100)))[0][etherSize:]))
	return append(all, changing(syn(path4.in), 12, 0x81, 0), changing(syn(path4.in), 0, 2, 9, 9))
}

// seeds are the sound frames, each cut off where it hurts, and each with fields
// that contradict the rest, of the header and of what is quoted.
func seeds() (all [][]byte) {
	for _, b := range sound() {
		all = append(all, b)
		for _, n := range []int{0, 13, 14, 33, 34, 41, 42, 53, 54, 61, 62, 69, 70, 77, 78, 109, 110, len(b) - 9, len(b) - 1} {
			if n >= 0 && n < len(b) {
				all = append(all, b[:n])
			}
		}
		for _, at := range []int{etherSize, 42, 62} { // version and length, quoted or not
			for _, v := range []byte{0x40, 0x44, 0x45, 0x46, 0x4f, 0x60, 0x65, 0xff} {
				if at < len(b) {
					all = append(all, header4(changing(b, at, v)))
				}
			}
		}
		for _, v := range [][]byte{{0, 0}, {0, 20}, {0, 28}, {0xff, 0xff}, {0, byte(len(b))}} {
			all = append(all, header4(changing(b, 16, v...)), changing(b, 18, v...))
		}
		for _, at := range []int{46, 66} { // where TCP's payload begins
			for _, v := range []byte{0, 0x40, 0x60, 0xf0} {
				if at < len(b) {
					all = append(all, changing(b, at, v))
				}
			}
		}
	}
	return all
}
