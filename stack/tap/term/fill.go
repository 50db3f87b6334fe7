package term

import (
	"reflect"
	"sync"
	"unsafe"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

	"penstock/stack/sys"
)

// fill is Endpoint.Write for a good deal that a kernel socket has ready.
//
// Netstack clears each buffer before it reads into it, and at 64 KiB a piece that
// is a twelfth of what bulk costs. Here it is read into buffers as they are, each
// byte of which is written before it is anybody's to send. All else is done as
// Write does it (tcp/endpoint.go, queueSegment), on the loop and so without its
// lock of the queue; what is used of netstack by name is below, and TestInline
// holds the pinned version to it.
func (c *conn) fill(clock tcpip.Clock, r *source) (n int, err tcpip.Error) {
	ep := c.ep
	ep.LockUser()
	defer ep.UnlockUser()
	room, err := writable(ep)
	if err != nil {
		return 0, err
	}
	var b buffer.Buffer
	for room = min(room, r.left); n < room; {
		v := unclear(min(room-n, chunkSize))
		if !r.readAll(v.AsSlice()) {
			v.Release()
			b.Release()
			return 0, &tcpip.ErrBadBuffer{}
		}
		n += v.Size()
		b.Append(v)
	}
	seg := newOutgoing(ep.TransportEndpointInfo.ID, clock, b, 0)
	*(*int)(unsafe.Add(unsafe.Pointer(ep), usedAt)) += n
	snd := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(ep), sndAt))
	pushBack(unsafe.Add(snd, listAt), seg)
	sendData(ep, seg)
	return n, nil
}

// fillLeast is the least that is worth it, bytes.
const fillLeast = 8 << 10

// readAll fills p from the socket; false if that has less.
func (r *source) readAll(p []byte) bool {
	for len(p) > 0 {
		n, e := sys.Recv(r.fd, p)
		if n == 0 || e != 0 {
			return false
		}
		p = p[n:]
	}
	return true
}

// unclear is buffer.NewViewSize, but that the bytes are whatever they were.
func unclear(size int) *buffer.View {
	c := chunkPool(size).Get() // a *chunk
	p := (*[2]unsafe.Pointer)(unsafe.Pointer(&c))[1]
	initRefs(unsafe.Add(p, refsAt))
	v := viewPool.Get().(*buffer.View)
	*v = buffer.View{}
	*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(v), chunkAt)) = p
	v.Grow(size)
	return v
}

// copied is buffer.NewViewWithData.
func copied(b []byte) *buffer.View {
	v := unclear(len(b))
	copy(v.AsSlice(), b)
	return v
}

// Where netstack has what has no name outside.
var (
	chunkAt, refsAt       uintptr // of a View, its chunk; of that, its count of references
	usedAt, sndAt, listAt uintptr // of an Endpoint, bytes queued and the sender; of that, its segments
	unaAt, nxtAt          uintptr // ... and the numbers of the first one on its way, and of the next
)

func init() {
	field := func(t reflect.Type, name string) (reflect.Type, uintptr) {
		f, ok := t.FieldByName(name)
		if !ok {
			panic("term: netstack's " + t.String() + " has no " + name)
		}
		return f.Type, f.Offset
	}
	chunk, at := field(reflect.TypeFor[buffer.View](), "chunk")
	chunkAt = at
	_, refsAt = field(chunk.Elem(), "chunkRefs")
	queue, at := field(reflect.TypeFor[tcp.Endpoint](), "sndQueueInfo")
	state, in := field(queue, "TCPSndBufState")
	_, used := field(state, "SndBufUsed")
	usedAt = at + in + used
	snd, at := field(reflect.TypeFor[tcp.Endpoint](), "snd")
	sndAt = at
	_, listAt = field(snd.Elem(), "writeList")
	state, at = field(snd.Elem(), "TCPSenderState")
	_, una := field(state, "SndUna")
	_, nxt := field(state, "SndNxt")
	unaAt, nxtAt = at+una, at+nxt
}

//go:linkname viewPool gvisor.dev/gvisor/pkg/buffer.viewPool
var viewPool sync.Pool

//go:linkname chunkPool gvisor.dev/gvisor/pkg/buffer.getChunkPool
func chunkPool(size int) *sync.Pool

//go:linkname initRefs gvisor.dev/gvisor/pkg/buffer.(*chunkRefs).InitRefs
func initRefs(refs unsafe.Pointer)

//go:linkname writable gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*Endpoint).isEndpointWritableLocked
func writable(ep *tcp.Endpoint) (int, tcpip.Error)

//go:linkname newOutgoing gvisor.dev/gvisor/pkg/tcpip/transport/tcp.newOutgoingSegment
func newOutgoing(id stack.TransportEndpointID, clock tcpip.Clock, b buffer.Buffer, mark uint32) unsafe.Pointer

//go:linkname pushBack gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*protectedWriteList).PushBack
func pushBack(list, seg unsafe.Pointer)

//go:linkname sendData gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*Endpoint).sendData
func sendData(ep *tcp.Endpoint, seg unsafe.Pointer)
