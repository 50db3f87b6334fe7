package cases

import (
	be "encoding/binary"
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// diagID and the two below are the kernel's words for asking which sockets there
// are; see include/uapi/linux/inet_diag.h.
type diagID struct {
	sport, dport [2]byte
	src, dst     [16]byte
	device       uint32
	cookie       [2]uint32
}

type diagRequest struct {
	header                     unix.NlMsghdr
	family, protocol, ext, pad uint8
	states                     uint32
	id                         diagID
}

type diagAnswer struct {
	family, state, timer, retrans uint8
	id                            diagID
	// And more.
}

// States of a socket; see include/net/tcp_states.h.
const (
	synSent     = 2
	synReceived = 3
	closed      = 7
	listening   = 10
)

// halfOpen returns the peers whose SYNs to addr were answered, and who have not
// acknowledged that.
func halfOpen(t testing.TB, addr string) map[netip.AddrPort]bool {
	t.Helper()
	at := netip.MustParseAddrPort(addr)
	var id diagID
	be.BigEndian.PutUint16(id.sport[:], at.Port())
	peers := map[netip.AddrPort]bool{}
	diag(t, at.Addr(), synReceived, id, func(_, peer netip.AddrPort) { peers[peer] = true })
	return peers
}

// dialsTo returns where dials to addr come from that have no answer yet.
func dialsTo(t testing.TB, addr string) map[netip.AddrPort]bool {
	t.Helper()
	to := netip.MustParseAddrPort(addr)
	var id diagID
	be.BigEndian.PutUint16(id.dport[:], to.Port())
	from := map[netip.AddrPort]bool{}
	diag(t, to.Addr(), synSent, id, func(local, peer netip.AddrPort) {
		if peer == to {
			from[local] = true
		}
	})
	return from
}

// diag has see called for each socket of a family in a state, and with the ports
// in id that are not 0. The table in /proc is slow to read when many are in
// TIME_WAIT, and so is a process to start that reads it.
func diag(t testing.TB, family netip.Addr, state int, id diagID, see func(local, peer netip.AddrPort)) {
	t.Helper()
	r := diagRequest{family: unix.AF_INET, protocol: unix.IPPROTO_TCP, states: 1 << state, id: id}
	if family.Is6() {
		r.family = unix.AF_INET6
	}
	r.header = unix.NlMsghdr{Len: uint32(unsafe.Sizeof(r)), Type: unix.SOCK_DIAG_BY_FAMILY, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		t.Fatal(err)
	}
	for b := make([]byte, 1<<16); ; {
		n, _, err := unix.Recvfrom(fd, b, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for m := b[:n]; len(m) >= unix.SizeofNlMsghdr; {
			h := (*unix.NlMsghdr)(unsafe.Pointer(&m[0]))
			switch h.Type {
			case unix.NLMSG_DONE:
				return
			case unix.NLMSG_ERROR:
				t.Fatal("sock_diag refuses")
			}
			a := (*diagAnswer)(unsafe.Pointer(&m[unix.SizeofNlMsghdr]))
			local, peer := netip.AddrFrom16(a.id.src), netip.AddrFrom16(a.id.dst)
			if a.family == unix.AF_INET {
				local, peer = netip.AddrFrom4([4]byte(a.id.src[:4])), netip.AddrFrom4([4]byte(a.id.dst[:4]))
			}
			see(netip.AddrPortFrom(local, be.BigEndian.Uint16(a.id.sport[:])), netip.AddrPortFrom(peer, be.BigEndian.Uint16(a.id.dport[:])))
			m = m[min(len(m), int(h.Len+3)&^3):]
		}
	}
}
