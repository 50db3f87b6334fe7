package sys

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestFindLink(t *testing.T) {
	fd, e := OpenLinks()
	if e != 0 {
		t.Fatal(e)
	}
	defer Close(fd)
	l, e := FindLink(fd, "lo")
	if e != 0 || l.MTU < 1280 || l.QueueLen == 0 || l.Flags&unix.IFF_LOOPBACK == 0 || l.Kind != "" || l.MAC != [6]byte{} {
		t.Errorf("%+v, %v", l, e)
	}
	if flags, e := LinkFlags(fd, "lo"); e != 0 || flags != l.Flags {
		t.Errorf("%#x, %v; want %#x", flags, e, l.Flags)
	}
	for _, name := range []string{"no-such-link", "longer-than-any-name"} {
		if _, e := FindLink(fd, name); e == 0 {
			t.Errorf("%s: found", name)
		}
		if _, e := LinkFlags(fd, name); e == 0 {
			t.Errorf("%s: found", name)
		}
	}
	if _, e := FindLink(fd, "no-such-link"); e != unix.ENODEV {
		t.Error(e)
	}
}

// attribute makes one of a netlink message.
func attribute(kind uint16, v ...byte) []byte {
	n := 4 + len(v)
	return append([]byte{byte(n), byte(n >> 8), byte(kind), byte(kind >> 8)}, append(v, make([]byte, -n&3)...)...)
}

// Whatever the kernel sends, nothing is read beyond it. (Little-endian only.)
func TestParseLink(t *testing.T) {
	info := append(attribute(unix.IFLA_TUN_TYPE, unix.IFF_TAP), attribute(unix.IFLA_TUN_MULTI_QUEUE, 1)...)
	info = append(info, attribute(unix.IFLA_TUN_NUM_QUEUES, 3, 0, 0, 0)...)
	info = append(info, attribute(unix.IFLA_TUN_NUM_DISABLED_QUEUES, 1, 0, 0, 0)...)
	link := append(attribute(unix.IFLA_INFO_KIND, 't', 'u', 'n', 0), attribute(unix.IFLA_INFO_DATA|unix.NLA_F_NESTED, info...)...)
	b := make([]byte, unix.NLMSG_HDRLEN+unix.SizeofIfInfomsg)
	b[4] = unix.RTM_NEWLINK
	b = append(b, attribute(unix.IFLA_ADDRESS, 2, 0, 0, 0, 0, 7)...)
	b = append(b, attribute(unix.IFLA_LINKINFO, link...)...)
	b = append(b, attribute(unix.IFLA_STATS64, append(make([]byte, 56), 9, 0, 0, 0, 0, 0, 0, 0)...)...)

	var l Link
	if e := l.parse(b); e != 0 || l != (Link{MAC: [6]byte{2, 5: 7}, Kind: "tun", Dropped: 9, Tun: unix.IFF_TAP, MultiQueue: true, Queues: 4}) {
		t.Errorf("%+v, %v", l, e)
	}
	for n := range b {
		l.parse(b[:n:n])
	}
	for i := unix.NLMSG_HDRLEN; i < len(b); i++ {
		for _, v := range []byte{0, 1, 3, 5, 255} {
			c := append([]byte(nil), b...)
			c[i] = v
			l.parse(c[:len(c):len(c)])
		}
	}
}
