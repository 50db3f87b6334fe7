package sys

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Link is what the kernel says about a network interface.
type Link struct {
	Flags    uint16 // IFF_*
	MTU      int
	QueueLen int // frames held back for its reader, in each queue
	MAC      [6]byte
	Kind     string // "tun", "veth", ...; empty for hardware
	Dropped  uint64 // frames that it could not send

	// If Kind is "tun", from Linux 4.16 on:
	Tun        uint8 // IFF_TUN or IFF_TAP; 0 not told
	MultiQueue bool
	Queues     int // that are open now, in all processes
}

// OpenLinks opens a socket to ask about links of the calling thread's network
// namespace, and to set them. Any thread may use it then.
func OpenLinks() (fd int, e Errno) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	return fd, errno(err)
}

// LinkFlags returns a link's IFF_* flags; ENODEV if there is none of that name.
// Unlike FindLink it takes no lock of the kernel's that may be held for long.
func LinkFlags(links int, name string) (flags uint16, e Errno) {
	r, e := request(name)
	if e != 0 {
		return 0, e
	}
	e = errno(unix.IoctlIfreq(links, unix.SIOCGIFFLAGS, r))
	return r.Uint16(), e
}

// SetLinkFlags sets them.
func SetLinkFlags(links int, name string, flags uint16) Errno {
	r, e := request(name)
	if e != 0 {
		return e
	}
	r.SetUint16(flags)
	return errno(unix.IoctlIfreq(links, unix.SIOCSIFFLAGS, r))
}

// SetLinkMTU sets a link's largest datagram.
func SetLinkMTU(links int, name string, mtu int) Errno {
	return setLink(links, unix.SIOCSIFMTU, name, mtu)
}

// SetLinkQueueLen sets how many frames a link holds back for its reader, in
// each of its queues.
func SetLinkQueueLen(links int, name string, frames int) Errno {
	return setLink(links, unix.SIOCSIFTXQLEN, name, frames)
}

func setLink(links int, call uint, name string, v int) Errno {
	r, e := request(name)
	if e != 0 {
		return e
	}
	r.SetUint32(uint32(v))
	return errno(unix.IoctlIfreq(links, call, r))
}

func request(name string) (*unix.Ifreq, Errno) {
	r, err := unix.NewIfreq(name)
	return r, errno(err)
}

// errno unwraps what package unix returns.
func errno(err error) Errno {
	e, _ := err.(Errno)
	return e
}

// FindLink asks for a link; ENODEV if there is none of that name. One caller at
// a time for a socket.
func FindLink(links int, name string) (l Link, e Errno) {
	return findLink(links, newMessage(unix.RTM_GETLINK, unix.SizeofIfInfomsg), name)
}

// FindLinkIn asks for a link in another network namespace, by NamespaceID.
func FindLinkIn(links int, namespace int32, name string) (l Link, e Errno) {
	m := newMessage(unix.RTM_GETLINK, unix.SizeofIfInfomsg)
	return findLink(links, m.number(unix.IFLA_TARGET_NETNSID, uint32(namespace)), name)
}

func findLink(links int, m message, name string) (l Link, e Errno) {
	b, e := m.attribute(unix.IFLA_IFNAME, append([]byte(name), 0)).ask(links)
	if e != 0 {
		return l, e
	}
	return l, l.parse(b)
}

func (l *Link) parse(b []byte) Errno {
	b, e := answer(b, unix.RTM_NEWLINK, unix.SizeofIfInfomsg)
	if e != 0 {
		return e
	}
	l.Flags = uint16((*unix.IfInfomsg)(unsafe.Pointer(&b[0])).Flags)
	attributes(b[unix.SizeofIfInfomsg:], l.attribute)
	return 0
}

func (l *Link) attribute(kind uint16, v []byte) {
	switch kind {
	case unix.IFLA_ADDRESS:
		copy(l.MAC[:], v)
	case unix.IFLA_MTU:
		l.MTU = number(v)
	case unix.IFLA_TXQLEN:
		l.QueueLen = number(v)
	case unix.IFLA_STATS64:
		const txDropped = 7 // of struct rtnl_link_stats64
		if len(v) >= (txDropped+1)*8 {
			l.Dropped = binary.NativeEndian.Uint64(v[txDropped*8:])
		}
	case unix.IFLA_LINKINFO:
		attributes(v, l.info)
	}
}

// info takes what is special to the link's kind, which comes first.
func (l *Link) info(kind uint16, v []byte) {
	switch kind {
	case unix.IFLA_INFO_KIND:
		l.Kind = unix.ByteSliceToString(v)
	case unix.IFLA_INFO_DATA:
		if l.Kind == "tun" {
			attributes(v, l.tun)
		}
	}
}

func (l *Link) tun(kind uint16, v []byte) {
	switch kind {
	case unix.IFLA_TUN_TYPE:
		l.Tun = uint8(number(v))
	case unix.IFLA_TUN_MULTI_QUEUE:
		l.MultiQueue = number(v) != 0
	case unix.IFLA_TUN_NUM_QUEUES, unix.IFLA_TUN_NUM_DISABLED_QUEUES:
		l.Queues += number(v)
	}
}

// number reads an integer of one or four bytes.
func number(v []byte) int {
	switch len(v) {
	case 1:
		return int(v[0])
	case 4:
		return int(binary.NativeEndian.Uint32(v))
	}
	return 0
}
