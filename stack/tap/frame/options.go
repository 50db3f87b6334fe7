package frame

// Options of a TCP header, those that a handshake is about. A segment without SYN
// can have timestamps only.
type Options struct {
	TSVal, TSEcr uint32
	MSS          uint16 // 0: none
	WS           int8   // shift of the window, 0 to 14; -1: none
	SACK, TS     bool   // permitted; there are timestamps
}

// Kinds of TCP options.
const (
	optEnd  = 0
	optNop  = 1
	optMSS  = 2
	optWS   = 3
	optSACK = 4 // permitted
	optTS   = 8
)

// mostWS is the largest shift there is (RFC 7323 2.3).
const mostWS = 14

// Options reads the options of a TCP segment as Linux does: one whose length does
// not fit its kind is passed over, one that ends behind the header ends the list
// and what came before it counts; the last of several of a kind holds. b is the
// frame, or as much of it as was parsed.
func (p *Packet) Options(b []byte) Options {
	o := Options{WS: -1}
	list := b[p.L4+tcpSize : p.Data]
	for len(list) > 0 && list[0] != optEnd {
		if list[0] == optNop {
			list = list[1:]
			continue
		}
		if len(list) < 2 || list[1] < 2 || int(list[1]) > len(list) {
			break
		}
		o.take(list[:list[1]], p.Flags&SYN != 0)
		list = list[list[1]:]
	}
	return o
}

// take reads one whole option, its kind and length included.
func (o *Options) take(b []byte, syn bool) {
	switch kind := b[0]; {
	case kind == optTS && len(b) == 10:
		o.TS, o.TSVal, o.TSEcr = true, be.Uint32(b[2:]), be.Uint32(b[6:])
	case !syn:
	case kind == optMSS && len(b) == 4:
		if mss := be.Uint16(b[2:]); mss != 0 {
			o.MSS = mss
		}
	case kind == optWS && len(b) == 3:
		o.WS = int8(min(b[2], mostWS))
	case kind == optSACK && len(b) == 2:
		o.SACK = true
	}
}

// mostOptions is as many bytes as appendOptions writes at most.
const mostOptions = 20

// appendOptions writes o in the order Linux has them, up to a multiple of four.
func appendOptions(b []byte, o *Options, syn bool) []byte {
	if syn && o.MSS != 0 {
		b = append(b, optMSS, 4, byte(o.MSS>>8), byte(o.MSS))
	}
	sack := syn && o.SACK
	switch {
	case o.TS && sack:
		b = append(b, optSACK, 2, optTS, 10)
	case o.TS:
		b = append(b, optNop, optNop, optTS, 10)
	case sack:
		b = append(b, optNop, optNop, optSACK, 2)
	}
	if o.TS {
		b = be.AppendUint32(b, o.TSVal)
		b = be.AppendUint32(b, o.TSEcr)
	}
	if syn && o.WS >= 0 {
		b = append(b, optNop, optWS, 3, byte(min(o.WS, mostWS)))
	}
	return b
}
