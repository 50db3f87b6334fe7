package wire

import (
	"encoding/binary"
	"math"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Filter says which frames come.
type Filter []unix.SockFilter

// Where a frame says what a filter asks for, without IP options.
const (
	atType     = 12
	atProtocol = HeaderSize + 9
	atSource   = HeaderSize + 12
	atTarget   = HeaderSize + 16
	atFromPort = HeaderSize + 20
)

// FromTCP lets TCP over IPv4 come that is from an address and port, and to one of
// some addresses.
func FromTCP(from netip.AddrPort, to netip.Prefix) Filter {
	f := tcp().address(atSource, netip.PrefixFrom(from.Addr(), 32))
	f = f.want(unix.BPF_H, atFromPort, math.MaxUint32, uint32(from.Port()))
	return f.address(atTarget, to).end()
}

// ToTCP lets TCP over IPv4 come that is to an address, to whatever port, and ARP.
func ToTCP(to netip.Addr) Filter {
	f := tcp().address(atTarget, netip.PrefixFrom(to, 32)).end()
	pass := uint8(len(f) - 2)
	return append(Filter{
		{Code: unix.BPF_LD | unix.BPF_ABS | unix.BPF_H, K: atType},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: typeARP, Jt: pass},
	}, f...)
}

func tcp() Filter {
	return Filter{}.want(unix.BPF_H, atType, math.MaxUint32, typeIPv4).want(unix.BPF_B, atProtocol, math.MaxUint32, unix.IPPROTO_TCP)
}

func (f Filter) address(at uint32, of netip.Prefix) Filter {
	a := of.Masked().Addr().As4()
	mask := uint32(math.MaxUint32) << (32 - of.Bits())
	return f.want(unix.BPF_W, at, mask, binary.BigEndian.Uint32(a[:]))
}

// want adds that what stands somewhere, of that size, is k where the mask has
// ones.
func (f Filter) want(size uint16, at, mask, k uint32) Filter {
	f = append(f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_ABS | size, K: at})
	if mask != math.MaxUint32 {
		f = append(f, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask})
	}
	return append(f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k})
}

// end lets come what was all so, and has each jump that was not go behind that.
func (f Filter) end() Filter {
	f = append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: math.MaxUint32}, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K})
	reject := len(f) - 1
	for i := range f {
		if f[i].Code&0x07 == unix.BPF_JMP {
			f[i].Jf = uint8(reject - i - 1)
		}
	}
	return f
}
