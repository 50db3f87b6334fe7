package track

import (
	"slices"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// TestRealStacks is a random walk of clients and servers with netstack's TCP, over wires
// that lose, repeat and reorder: they connect, talk, close, reset and vanish. The
// server never has more connections than there are slots taken, and never one whose slot
// is free; and in the end all slots are.
func TestRealStacks(t *testing.T) {
	seeds, steps := uint64(3), 2500
	if testing.Short() {
		seeds, steps = 1, 400
	}
	for seed := range seeds {
		w := newNetWalk(t, seed)
		for range steps {
			w.step()
		}
		w.finish()
		t.Logf("seed %d: %d connections, %v", seed, w.count, w.events)
	}
}

type netWalk struct {
	*network
	listener sock
	clients  []sock // the applications'
	servers  []sock
	accepted []sock // of the server, until they are no more
	count    int
}

// ports is how many a client has: few, so that they are used again.
const ports = 20

func newNetWalk(t *testing.T, seed uint64) *netWalk {
	w := &netWalk{network: newNetwork(t, seed)}
	w.listener = w.hosts[Server].listen()
	w.check = w.compare
	return w
}

func (w *netWalk) step() {
	port := uint16(1000 + w.rnd.IntN(ports))
	switch w.rnd.IntN(20) {
	case 0, 1, 2:
		w.connect(port)
	case 3, 4, 5:
		w.act(&w.clients)
	case 6, 7, 8:
		w.act(&w.servers)
	case 9:
		if w.rnd.IntN(4) == 0 {
			w.vanish(port)
		}
		w.comeBack()
	default:
		w.run(time.Duration(w.rnd.IntN(300)) * time.Millisecond)
	}
}

func (w *netWalk) connect(port uint16) {
	if w.muted[port] {
		return
	}
	if s, ok := w.hosts[Client].connect(port); ok {
		w.note("%d: connects", port)
		w.clients = append(w.clients, s)
	}
}

// act does something with one of some sockets.
func (w *netWalk) act(list *[]sock) {
	if len(*list) == 0 {
		return
	}
	i := w.rnd.IntN(len(*list))
	s := (*list)[i]
	x := w.rnd.IntN(14)
	if !s.live() && s.state() != tcp.StateSynSent || s.state() == tcp.StateCloseWait && x > 6 {
		x = 13
	}
	switch {
	case x < 5:
		s.write(1 + w.rnd.IntN(20000))
	case x < 8:
		s.read()
	case x == 8:
		w.note("%d: %v shuts down", s.port, s.state())
		s.Shutdown(tcpip.ShutdownWrite)
	case x == 9 && w.rnd.IntN(2) == 0:
		w.note("%d: %v resets", s.port, s.state())
		if w.rnd.IntN(3) == 0 {
			w.silent(s.abort)
		} else {
			s.abort()
		}
		*list = slices.Delete(*list, i, i+1)
	default:
		w.note("%d: %v closes", s.port, s.state())
		if x > 10 {
			s.read() // else netstack resets it
		}
		s.Close()
		*list = slices.Delete(*list, i, i+1)
	}
}

// silent does something of which nothing gets onto the wires: a host that forgets
// all it knew, as if it had been started anew.
func (w *netWalk) silent(do func()) {
	set := func(loss int) {
		w.mu.Lock()
		w.loss = loss
		w.mu.Unlock()
	}
	was := w.loss
	set(100)
	do()
	w.settle()
	set(was)
}

// vanish takes a client's port off the wire. It forgets all it knew.
func (w *netWalk) vanish(port uint16) {
	w.note("%d: vanishes", port)
	w.muted[port] = true
	w.clients = slices.DeleteFunc(w.clients, func(s sock) bool {
		if s.port == port {
			s.abort()
		}
		return s.port == port
	})
}

// comeBack puts one on the wire again.
func (w *netWalk) comeBack() {
	for port := range uint16(ports) {
		if w.muted[1000+port] && w.rnd.IntN(3) == 0 {
			w.note("%d: is back", 1000+port)
			delete(w.muted, 1000+port)
			return
		}
	}
}

// compare accepts what there is, and looks whether each connection of the server's
// has its slot.
func (w *netWalk) compare() {
	for s, ok := w.listener.accept(); ok; s, ok = w.listener.accept() {
		w.note("%d: accepted", s.port)
		w.count++
		w.servers = append(w.servers, s)
		w.accepted = append(w.accepted, s)
	}
	live := 0
	w.accepted = slices.DeleteFunc(w.accepted, func(s sock) bool {
		if s.live() {
			live++
			if fl := w.flows[s.port]; fl == nil || !fl.held {
				w.fatal("%d: the server is %v, and no slot is taken", s.port, s.state())
			}
		}
		return s.state() == tcp.StateClose || s.state() == tcp.StateError
	})
	if live > w.slots || w.slots > mostSlots {
		w.fatal("%d connections, %d slots", live, w.slots)
	}
}

// finish ends all, over wires that have become good.
func (w *netWalk) finish() {
	w.mu.Lock()
	w.loss = 0
	w.mu.Unlock()
	clear(w.muted)
	for _, s := range append(w.clients, w.servers...) {
		s.Close()
	}
	w.clients, w.servers = nil, nil
	for range 120 {
		w.run(time.Second)
		for _, s := range w.servers { // they came in the meantime
			s.Close()
		}
		w.servers = nil
		if w.slots == 0 {
			break
		}
	}
	if w.slots != 0 {
		w.fatal("%d slots are not free", w.slots)
	}
	for _, s := range w.accepted {
		if s.live() {
			w.fatal("%d is %v", s.port, s.state())
		}
	}
	w.listener.Close()
}
