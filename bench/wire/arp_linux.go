package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// ErrSilent says that nobody answers for an address.
var ErrSilent = errors.New("nobody answers for the address")

const arpSize = HeaderSize + 28

// Resolve asks on a device whose Ethernet address an IPv4 address has, in the
// name of another address, until the answer comes or time is up.
func Resolve(p Port, from, target netip.Addr, within time.Duration) (MAC, error) {
	fd, err := open(p, typeARP, func(int) error { return nil })
	if err != nil {
		return MAC{}, err
	}
	defer unix.Close(fd)
	const again = 50 * time.Millisecond
	for deadline := time.Now().Add(within); ; {
		// A device that is not ready yet is as one that nobody answers on.
		unix.Sendto(fd, arpRequest(p.MAC, from, target), 0, &unix.SockaddrLinklayer{Ifindex: p.Index})
		asked := time.Now()
		for time.Since(asked) < again && time.Now().Before(deadline) {
			if mac, ok := arpReply(fd, target); ok {
				return mac, nil
			}
		}
		if !time.Now().Before(deadline) {
			return MAC{}, fmt.Errorf("%v on %s: %w", target, p.Name, ErrSilent)
		}
	}
}

func arpRequest(own MAC, from, target netip.Addr) []byte {
	b := make([]byte, 0, arpSize)
	b = append(append(b, Broadcast[:]...), own[:]...)
	b = binary.BigEndian.AppendUint16(b, typeARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, 1) // Ethernet, IPv4, their sizes, request
	b = append(append(b, own[:]...), from.AsSlice()...)
	return append(append(b, make([]byte, 6)...), target.AsSlice()...)
}

// arpReply reads one frame, if one comes soon.
func arpReply(fd int, target netip.Addr) (mac MAC, ok bool) {
	soon := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(soon, 1); n < 1 || err != nil {
		return mac, false
	}
	var b [Most]byte
	n, _, err := unix.Recvfrom(fd, b[:], 0)
	if err != nil || n < arpSize {
		return mac, false
	}
	const operation, sender, reply = HeaderSize + 6, HeaderSize + 8, 2
	if binary.BigEndian.Uint16(b[operation:]) != reply || netip.AddrFrom4([4]byte(b[sender+6:])) != target {
		return mac, false
	}
	return MAC(b[sender:]), true
}

// ARP is a request for somebody's Ethernet address.
type ARP struct {
	Sender MAC
	From   netip.Addr
	Target netip.Addr
}

// ReadARP takes the frame of a request over IPv4 apart.
func ReadARP(b []byte) (q ARP, ok bool) {
	const operation, sender, target, request = HeaderSize + 6, HeaderSize + 8, HeaderSize + 24, 1
	if len(b) < arpSize || binary.BigEndian.Uint16(b[atType:]) != typeARP || binary.BigEndian.Uint16(b[operation:]) != request {
		return q, false
	}
	return ARP{MAC(b[sender:]), netip.AddrFrom4([4]byte(b[sender+6:])), netip.AddrFrom4([4]byte(b[target:]))}, true
}

// Reply fills b, of ReplySize bytes, with an answer to it: that the address is
// at own.
func (q *ARP) Reply(b []byte, own MAC) {
	b = append(append(b[:0], q.Sender[:]...), own[:]...)
	b = binary.BigEndian.AppendUint16(b, typeARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, 2) // as a request's, but a reply
	b = append(append(b, own[:]...), q.Target.AsSlice()...)
	_ = append(append(b, q.Sender[:]...), q.From.AsSlice()...)
}

// ReplySize is that of an answer.
const ReplySize = arpSize
