package term

import (
	"reflect"
	"unsafe"

	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// inline does the work of netstack's TCP processor on the loop.
//
// Netstack hands segments over to a goroutine, since it can't know who calls it.
// Here it is always the loop, and the way to that goroutine and back costs two
// switches between threads for nearly each frame: a third of the time of a short
// connection. So the processor is paused for good, as netstack has it for saving
// its state, and what it would do (tcp/dispatcher.go, processor.start) is done
// when frames have been handed over. Timers fire on the loop as well (clock), so
// that netstack has no other thread at all.
//
// It has no API for that. What is used of it by name is below; TestInline fails
// if the pinned version does not have it as it is expected.
type inline struct {
	queue unsafe.Pointer // *tcp.epQueue: endpoints with segments; nil: the processor has them
}

// segments is where an endpoint has its segmentQueue.
var segments = func() uintptr {
	f, _ := reflect.TypeFor[tcp.Endpoint]().FieldByName("segmentQueue")
	return f.Offset
}()

// takeOver pauses netstack's processor. It must be the only one.
func (l *inline) takeOver(s *stack.Stack) {
	p := reflect.ValueOf(s.TransportProtocolInstance(tcp.ProtocolNumber)).Elem()
	processors := p.FieldByName("dispatcher").FieldByName("processors")
	if processors.Len() != 1 {
		panic("term: netstack has several processors")
	}
	l.queue = processors.Index(0).FieldByName("epQ").Addr().UnsafePointer()
	s.Pause()
}

// giveBack lets the processor go on, so that it can be told to end.
func (l *inline) giveBack(s *stack.Stack) {
	if l.queue != nil {
		l.run()
		l.queue = nil
		s.Resume()
	}
}

// run handles all segments that were handed over, and those that come meanwhile.
func (l *inline) run() {
	if l.queue == nil {
		return
	}
	for ep := dequeue(l.queue); ep != nil; ep = dequeue(l.queue) {
		for range rounds {
			if handle(ep); empty(unsafe.Add(unsafe.Pointer(ep), segments)) || !handles(ep) {
				break
			}
		}
	}
}

// rounds bounds how often a hundred segments of one endpoint are handled in a
// row: more than a turn of the loop can bring. A listener gets one for each
// handshake that is released.
const rounds = 1 << 16

// handles says whether handling again would do something: in these states the
// segments are taken by whoever ends the endpoint.
func handles(ep *tcp.Endpoint) bool {
	switch ep.EndpointState() {
	case tcp.StateInitial, tcp.StateBound, tcp.StateClose, tcp.StateError:
		return false
	}
	return true
}

// handle handles some of an endpoint's segments.
func handle(ep *tcp.Endpoint) {
	switch ep.EndpointState() {
	case tcp.StateConnecting, tcp.StateSynSent, tcp.StateSynRecv:
		handleConnecting(ep)
	case tcp.StateListen:
		handleListen(ep)
	case tcp.StateTimeWait:
		handleTimeWait(ep)
	case tcp.StateClose, tcp.StateError:
		drain(ep) // on to another endpoint of the flow, or reset
	case tcp.StateInitial, tcp.StateBound:
	default:
		handleConnected(ep)
	}
}

//go:linkname dequeue gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*epQueue).dequeue
func dequeue(q unsafe.Pointer) *tcp.Endpoint

//go:linkname empty gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*segmentQueue).empty
func empty(q unsafe.Pointer) bool

//go:linkname handleConnecting gvisor.dev/gvisor/pkg/tcpip/transport/tcp.handleConnecting
func handleConnecting(ep *tcp.Endpoint)

//go:linkname handleConnected gvisor.dev/gvisor/pkg/tcpip/transport/tcp.handleConnected
func handleConnected(ep *tcp.Endpoint)

//go:linkname handleTimeWait gvisor.dev/gvisor/pkg/tcpip/transport/tcp.handleTimeWait
func handleTimeWait(ep *tcp.Endpoint)

//go:linkname handleListen gvisor.dev/gvisor/pkg/tcpip/transport/tcp.handleListen
func handleListen(ep *tcp.Endpoint)

//go:linkname drain gvisor.dev/gvisor/pkg/tcpip/transport/tcp.(*Endpoint).drainClosingSegmentQueue
func drain(ep *tcp.Endpoint)
