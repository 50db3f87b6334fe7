package ether

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// MTU is the link's.
const MTU = 1500

// Own is the device's address on the link.
var Own = frame.MAC{2, 0, 0, 0, 0, 1}

// Router is where the frames come from that a test makes, and all hosts': as if
// they were behind one.
var Router = frame.MAC{2, 0, 0, 0, 0, 2}

// Device is the link. Any goroutine may use it.
type Device struct {
	queues []*Queue
	state  atomic.Uint32

	// Watch, if not nil, sees each frame on its way, before anything else: to the
	// device, or from it. It may say that the frame gets lost. Any goroutine calls
	// it. Set it before frames flow.
	Watch func(b []byte, to bool) (lose bool)
	// Servers says that clients are the others: frames for the device come to a
	// queue by whom they are for. Set it before frames flow.
	Servers bool

	mu    sync.Mutex
	hosts map[frame.Addr]*Host
	sent  [][]byte // from the device to no host
	wrong []string // what no device may send
}

// New makes a link with a device that has so many queues.
func New(queues int) *Device {
	d := &Device{hosts: map[frame.Addr]*Host{}}
	for range queues {
		d.queues = append(d.queues, &Queue{d: d, fd: -1})
	}
	return d
}

func (d *Device) MAC() frame.MAC      { return Own }
func (d *Device) MTU() int            { return MTU }
func (d *Device) State() device.State { return device.State(d.state.Load()) }

// Missed implements tap.Device: nothing is dropped unseen.
func (d *Device) Missed() uint64     { return 0 }
func (d *Device) Queue(i int) *Queue { return d.queues[i] }

// Close closes the hosts, too.
func (d *Device) Close() {
	d.mu.Lock()
	hosts := d.hosts
	d.hosts = map[frame.Addr]*Host{}
	d.mu.Unlock()
	for _, h := range hosts {
		h.net.Destroy()
	}
	for _, q := range d.queues {
		if q.fd >= 0 {
			unix.Close(q.fd)
		}
	}
}

// Set has the device go up or down, or away.
func (d *Device) Set(s device.State) { d.state.Store(uint32(s)) }

// Send sends the device a frame, which comes to the queue of its flow. It keeps b.
func (d *Device) Send(b []byte) { d.SendMarked(b, device.VNet{}) }

// SendMarked does so with what is left undone.
func (d *Device) SendMarked(b []byte, h device.VNet) {
	if d.Watch == nil || !d.Watch(b, true) {
		d.queues[d.queueOf(b)].push(arrival{h, b})
	}
}

// queueOf chooses a queue by the client's port, as a device does by the flow.
func (d *Device) queueOf(b []byte) int {
	var p frame.Packet
	if p.Parse(b, Own) != frame.TCP {
		return 0
	}
	if d.Servers {
		return int(p.DstPort) % len(d.queues)
	}
	return int(p.SrcPort) % len(d.queues)
}

// Take returns what the device sent since, but to no host.
func (d *Device) Take() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.sent
	d.sent = nil
	return b
}

// Wrong returns what was wrong with frames that the device sent.
func (d *Device) Wrong() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrong
}

// leave passes on a frame that the device sent, whose checksum is done; whether it is
// right is not asked of one that came to the device as valid.
func (d *Device) leave(b []byte, valid bool) {
	if d.Watch != nil && d.Watch(b, false) {
		return
	}
	var p frame.Packet
	k := p.Parse(b, frame.MAC(b[:6]))
	d.mu.Lock()
	if k == frame.Bad || k == frame.TCP && !valid && !p.ChecksumOK(b) {
		d.wrong = append(d.wrong, fmt.Sprintf("%v, or its checksum is wrong: %x", k, b[:min(len(b), 100)]))
	}
	reply := d.reply(b, k)
	h := d.hosts[p.Dst]
	if h == nil && reply == nil {
		d.sent = append(d.sent, b)
	}
	d.mu.Unlock()
	if reply != nil {
		d.Send(reply)
	} else if h != nil {
		h.receive(b)
	}
}

// reply says for a host where it is, if somebody asks for that.
func (d *Device) reply(b []byte, k frame.Kind) []byte {
	switch k {
	case frame.ARP:
		if a, ok := frame.ParseARP(b); ok && a.Op == frame.ARPRequest && d.hosts[a.TargetIP] != nil {
			return frame.AppendARPReply(nil, &a, Router)
		}
	case frame.Neighbor:
		if n, ok := frame.ParseNeighbor(b); ok && !n.Advert && d.hosts[n.Target] != nil {
			return frame.AppendAdvert(nil, &n, Router)
		}
	}
	return nil
}

// Queue is one queue of a device.
type Queue struct {
	d *Device

	mu     sync.Mutex
	in     []arrival
	fd     int // eventfd, readable while there are frames; -1: nobody wants it
	counts device.Counts
	last   device.State // that Check told
	held   []arrival    // to be written by Flush; the loop's
}

// arrival is a frame for the device.
type arrival struct {
	h device.VNet
	b []byte
}

// most is how many frames a queue holds; what comes then is lost.
const most = 1 << 14

func (q *Queue) push(a arrival) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.in) == most || q.d.State() != device.Up {
		return
	}
	q.in = append(q.in, a)
	if len(q.in) == 1 && q.fd >= 0 {
		sys.Wake(q.fd)
	}
}

// Waiting is as of a device.Queue.
func (q *Queue) Waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.in) > 0
}

// FD returns a descriptor that is readable while there are frames.
func (q *Queue) FD() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fd < 0 {
		q.fd, _ = sys.NewWaker()
	}
	return q.fd
}

// Read is as of a device.Queue.
func (q *Queue) Read(h *device.VNet, a, b []byte) (n int, e sys.Errno) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.d.State(); s != device.Up {
		return 0, failure(s)
	}
	if len(q.in) == 0 {
		if q.fd >= 0 {
			var count [8]byte
			unix.Read(q.fd, count[:])
		}
		return 0, unix.EAGAIN
	}
	x := q.in[0]
	if q.in = q.in[1:]; len(q.in) == 0 {
		q.in = nil
	}
	*h = x.h
	n = copy(a, x.b)
	n += copy(b, x.b[n:])
	q.counts.InFrames++
	q.counts.InBytes += uint64(n)
	return n, 0
}

func failure(s device.State) sys.Errno {
	if s == device.Gone {
		return unix.EBADFD
	}
	return unix.EIO
}

// Write is as of a device.Queue. It cuts up what is too large, and does the
// checksums.
func (q *Queue) Write(h *device.VNet, parts [][]byte) sys.Errno {
	return q.finish(h, slices.Concat(parts...))
}

func (q *Queue) finish(h *device.VNet, b []byte) sys.Errno {
	if h.GSO != device.GSONone {
		for _, b := range cut(h, b) {
			q.write(b, false)
		}
		return 0
	}
	if h.Flags&device.NeedsCsum != 0 {
		sum := ^checksum.Checksum(b[h.CsumStart:], 0)
		binary.BigEndian.PutUint16(b[h.CsumStart+h.CsumOffset:], sum)
	}
	return q.write(b, h.Flags&device.DataValid != 0)
}

// WriteFrame is as of a device.Queue.
func (q *Queue) WriteFrame(b []byte) sys.Errno { return q.write(append([]byte(nil), b...), false) }

// holdMost is how many frames are held back.
const holdMost = 64

// Send is as of a device.Queue, which holds back small ones only.
func (q *Queue) Send(h *device.VNet, head, tail []byte) { q.SendParts(h, [][]byte{head, tail}) }

// SendParts is as of a device.Queue.
func (q *Queue) SendParts(h *device.VNet, parts [][]byte) {
	if len(q.held) == holdMost {
		q.Flush()
	}
	q.held = append(q.held, arrival{*h, slices.Concat(parts...)})
}

// Held is as of a device.Queue.
func (q *Queue) Held() bool { return len(q.held) > 0 }

// Last is as of a device.Queue.
func (q *Queue) Last() (*device.VNet, []byte) {
	if len(q.held) == 0 {
		return nil, nil
	}
	a := &q.held[len(q.held)-1]
	return &a.h, a.b
}

// Flush is as of a device.Queue.
func (q *Queue) Flush() {
	held := q.held
	q.held = nil
	for i := range held {
		q.finish(&held[i].h, held[i].b)
	}
}

func (q *Queue) write(b []byte, valid bool) sys.Errno {
	q.mu.Lock()
	if s := q.d.State(); s != device.Up {
		q.counts.DroppedDown++
		q.mu.Unlock()
		return failure(s)
	}
	q.counts.OutFrames++
	q.counts.OutBytes += uint64(len(b))
	q.mu.Unlock()
	q.d.leave(b, valid)
	return 0
}

// Check is as of a device.Queue.
func (q *Queue) Check(int64) (s device.State, changed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s = q.d.State()
	changed = s != q.last
	q.last = s
	return s, changed
}

// Counts is as of a device.Queue.
func (q *Queue) Counts() device.Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.counts
}
