package sys

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// message is a request by netlink that is being made: header, a struct of the
// request's kind, attributes.
type message []byte

func newMessage(kind uint16, size int) message {
	m := make(message, unix.NLMSG_HDRLEN+(size+3)&^3, 128)
	h := m.header()
	h.Type, h.Flags = kind, unix.NLM_F_REQUEST
	return m
}

func (m message) header() *unix.NlMsghdr { return (*unix.NlMsghdr)(unsafe.Pointer(&m[0])) }

func (m message) attribute(kind uint16, v []byte) message {
	m = binary.NativeEndian.AppendUint16(m, uint16(unix.SizeofRtAttr+len(v)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = append(m, v...)
	return append(m, make([]byte, -len(m)&3)...)
}

func (m message) number(kind uint16, v uint32) message {
	return m.attribute(kind, binary.NativeEndian.AppendUint32(nil, v))
}

// ask sends the request and returns the answer.
func (m message) ask(fd int) ([]byte, Errno) {
	m.header().Len = uint32(len(m))
	if e := errno(unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})); e != 0 {
		return nil, e
	}
	b := make([]byte, 16<<10)
	n, _, err := unix.Recvfrom(fd, b, 0) // the kernel answers before Sendto returns
	if err != nil {
		return nil, errno(err)
	}
	return b[:n], 0
}

// answer returns what is behind the header of an answer of that kind, size bytes
// at least, or the error that it is. An acknowledgement is error 0.
func answer(b []byte, kind uint16, size int) ([]byte, Errno) {
	if len(b) < unix.NLMSG_HDRLEN+4 {
		return nil, unix.EBADMSG
	}
	h := (*unix.NlMsghdr)(unsafe.Pointer(&b[0]))
	b = b[unix.NLMSG_HDRLEN:]
	if h.Type == unix.NLMSG_ERROR {
		return nil, Errno(-int32(binary.NativeEndian.Uint32(b)))
	}
	if h.Type != kind || len(b) < size {
		return nil, unix.EBADMSG
	}
	return b, 0
}

// attributes calls f for each attribute of a netlink message.
func attributes(b []byte, f func(kind uint16, v []byte)) {
	for len(b) >= unix.SizeofRtAttr {
		n := int(binary.NativeEndian.Uint16(b))
		kind := binary.NativeEndian.Uint16(b[2:]) &^ (unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)
		if n < unix.SizeofRtAttr || n > len(b) {
			return
		}
		f(kind, b[unix.SizeofRtAttr:n])
		b = b[min((n+3)&^3, len(b)):]
	}
}
