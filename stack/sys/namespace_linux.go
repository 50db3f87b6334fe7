package sys

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Namespace returns a descriptor of the network namespace that fd's TAP device is
// in now. The caller closes it. It takes privileges there, and Linux 5.7.
func Namespace(fd int) (ns int, e Errno) {
	ns, err := unix.IoctlRetInt(fd, unix.TUNGETDEVNETNS)
	if err != nil {
		return -1, errno(err)
	}
	return ns, 0
}

// FileNumber returns the number by which what a descriptor refers to is known
// among others of its kind; 0 if that can't be told.
func FileNumber(fd int) uint64 {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil {
		return 0
	}
	return s.Ino
}

// NamespaceID returns the number by which another network namespace is known in
// that of the socket. It gets one if it has none, which takes privileges.
func NamespaceID(links, ns int) (id int32, e Errno) {
	if id, e = namespaceID(links, ns); id >= 0 || e != 0 {
		return id, e
	}
	const any = ^uint32(0)
	m := newMessage(unix.RTM_NEWNSID, 1).number(unix.NETNSA_NSID, any).number(unix.NETNSA_FD, uint32(ns))
	m.header().Flags |= unix.NLM_F_ACK
	b, e := m.ask(links)
	if e != 0 {
		return -1, e
	}
	if _, e := answer(b, 0, 0); e != 0 && e != unix.EEXIST {
		return -1, e
	}
	return namespaceID(links, ns)
}

// namespaceID returns -1 if there is none yet.
func namespaceID(links, ns int) (id int32, e Errno) {
	b, e := newMessage(unix.RTM_GETNSID, 1).number(unix.NETNSA_FD, uint32(ns)).ask(links)
	if e != 0 {
		return -1, e
	}
	const size = 4 // struct rtgenmsg, aligned
	if b, e = answer(b, unix.RTM_NEWNSID, size); e != 0 {
		return -1, e
	}
	id = -1
	attributes(b[size:], func(kind uint16, v []byte) {
		if kind == unix.NETNSA_NSID && len(v) == 4 {
			id = int32(binary.NativeEndian.Uint32(v))
		}
	})
	return id, 0
}
