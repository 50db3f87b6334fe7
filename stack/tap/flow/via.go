package flow

import (
	"math"
	"unsafe"

	"penstock/stack/tap/frame"
)

// vias numbers the addresses, from 1, that servers see instead of their clients'
// own. They are those of a configuration, so few, and none is forgotten.
type vias struct {
	addrs   []frame.Addr
	numbers map[frame.Addr]uint16
}

func (v *vias) at(n uint16) *frame.Addr { return &v.addrs[n-1] }

func (v *vias) number(a *frame.Addr) (n uint16, ok bool) {
	if n, ok = v.numbers[*a]; ok {
		return n, true
	}
	if len(v.addrs) == math.MaxUint16 {
		return 0, false
	}
	if v.numbers == nil {
		v.numbers = map[frame.Addr]uint16{}
	}
	v.addrs = append(v.addrs, *a)
	n = uint16(len(v.addrs))
	v.numbers[*a] = n
	return n, true
}

// bytes is about what they take, with the map's room for as many again.
func (v *vias) bytes() int {
	const each = int(unsafe.Sizeof(frame.Addr{}))
	return cap(v.addrs)*each + 2*len(v.numbers)*(each+2)
}
