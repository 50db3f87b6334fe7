package frame

// AppendDatagram appends the Ethernet and IP headers of a datagram of another
// protocol than TCP, with n bytes behind them, which are returned zeroed: whoever
// asked fills them in. f's ports mean nothing. It panics if n does not fit.
func AppendDatagram(dst []byte, f *Flow, n int, proto uint8) (all, room []byte) {
	return appendIP(dst, f, n, proto, hopLimit)
}

// PseudoOf is Pseudo of another protocol than TCP. ICMP of IPv4 has none.
func PseudoOf(src, dst *Addr, n int, proto uint8) uint16 { return pseudo(src, dst, n, proto) }
