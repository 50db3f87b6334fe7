package wire

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of a ring's slot, the kernel's header included: enough for the headers of a
// TCP segment and the first bytes of what it carries.
const slotSize = 256

// Receiver reads frames from a ring.
type Receiver struct {
	fd    int
	ring  []byte
	slots int
	next  int
	lent  *uint32 // status of the frame that the caller has
}

// NewReceiver makes one with a ring of that many frames, a power of two from
// 16 on.
func NewReceiver(p Port, only Filter, frames int) (*Receiver, error) {
	r := &Receiver{slots: frames}
	var err error
	r.fd, err = open(p, unix.ETH_P_ALL, func(fd int) error { return r.setup(fd, only) })
	return r, err
}

func (r *Receiver) setup(fd int, only Filter) (err error) {
	if err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(only)), Filter: &only[0]}); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	for option, value := range map[int]int{unix.PACKET_IGNORE_OUTGOING: 1, unix.PACKET_VERSION: unix.TPACKET_V2} {
		if err = unix.SetsockoptInt(fd, unix.SOL_PACKET, option, value); err != nil {
			return err
		}
	}
	block := 16 * slotSize // a page
	if err = unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq{
		Block_size: uint32(block), Block_nr: uint32(r.slots * slotSize / block), Frame_size: slotSize, Frame_nr: uint32(r.slots),
	}); err != nil {
		return fmt.Errorf("ring: %w", err)
	}
	r.ring, err = unix.Mmap(fd, 0, r.slots*slotSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return err
}

// Close closes it.
func (r *Receiver) Close() {
	unix.Munmap(r.ring)
	unix.Close(r.fd)
}

// Partial says that the kernel has left a checksum of the frame of the last Next
// to a network card, of which there is none.
func (r *Receiver) Partial() bool {
	return r.lent != nil && atomic.LoadUint32(r.lent)&unix.TP_STATUS_CSUMNOTREADY != 0
}

// Next is the next frame, cut to what there is room for, and when it was on the
// device, in ns of the wall clock. It is good until the next call.
func (r *Receiver) Next() (frame []byte, at int64, ok bool) {
	if r.lent != nil {
		atomic.StoreUint32(r.lent, unix.TP_STATUS_KERNEL)
		r.lent = nil
	}
	slot := r.ring[r.next*slotSize:][:slotSize]
	h := (*unix.Tpacket2Hdr)(unsafe.Pointer(&slot[0]))
	if atomic.LoadUint32(&h.Status)&unix.TP_STATUS_USER == 0 {
		return nil, 0, false
	}
	r.lent = &h.Status
	r.next = (r.next + 1) % r.slots
	return slot[h.Mac:][:h.Snaplen], int64(h.Sec)*1e9 + int64(h.Nsec), true
}

// Wait returns when there is a frame, or after some time.
func (r *Receiver) Wait(d time.Duration) {
	ts := unix.NsecToTimespec(int64(max(d, 0)))
	unix.Ppoll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}, &ts, nil) // early is no harm
}

// Missed is how many frames found the ring full since the last call.
func (r *Receiver) Missed() uint64 {
	st, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0
	}
	return uint64(st.Drops)
}

// Now is the time on the clock that frames are timed by.
func Now() int64 { return time.Now().UnixNano() }
