package track

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"penstock/stack/tap/frame"
)

// world is a client and a server whose segments pass a tracker, over wires that lose,
// repeat and reorder; and the caller's part. What it checks is what limits rely on:
// once the tracker has said that it is over, the server has no connection, and gets none.
type world struct {
	rnd  *rand.Rand
	told bool // keep a log
	log  []string

	peers [2]peer
	c     Conn
	in    [2][]Segment // on the way from a side to the tracker
	out   [2][]Segment // from the tracker to a side
	rough bool         // the wires are
	spoof bool         // a stranger sends what is out of the window
	guess bool         // he has guessed what is in the window

	held   bool // the slot
	ends   int  // how often it was given back
	how    Event
	asking bool // the server has to confirm
}

func newWorld(seed uint64, told bool) *world {
	w := &world{told: told, rnd: rand.New(rand.NewPCG(seed, 1)), rough: true}
	w.spoof = w.rnd.IntN(2) == 0
	for i := range w.peers {
		side := Side(i)
		ws := int8(w.rnd.IntN(9)) - 1
		w.peers[i] = peer{
			rnd: w.rnd, side: side, old: w.rnd.IntN(3) == 0, ws: ws,
			own: []uint32{500, 5000, 65535, 200000}[w.rnd.IntN(4)], iss: w.rnd.Uint32(),
			send: func(s Segment) {
				w.note("%d sends %v", side, s)
				w.in[side] = append(w.in[side], s)
			},
		}
		if ws < 0 {
			w.peers[i].own = min(w.peers[i].own, 65535)
		}
		w.peers[i].most = w.peers[i].own
		if w.rnd.IntN(4) == 0 {
			w.peers[i].iss = -w.rnd.Uint32N(3000)
		}
	}
	w.peers[Server].state = listening
	w.held = true
	return w
}

func (w *world) note(f string, args ...any) {
	if w.told {
		w.log = append(w.log, fmt.Sprintf(f, args...))
	}
}

// wrong is a panic's value.
type wrong string

func (w *world) fatal(f string, args ...any) {
	panic(wrong(fmt.Sprintf("%s; %v %+v\nclient %+v\nserver %+v",
		fmt.Sprintf(f, args...), w.c.State(), w.c, w.peers[Client], w.peers[Server])))
}

// walk goes through many worlds, and once more, with a log, through one in which
// something is wrong.
func walk(t *testing.T, play func(w *world)) {
	n := uint64(700)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		if try(seed, false, play) == nil {
			continue
		}
		w := try(seed, true, play)
		t.Fatalf("seed %d\n%s", seed, strings.Join(w.log, "\n"))
	}
}

// try returns a world in which something went wrong.
func try(seed uint64, told bool, play func(w *world)) (bad *world) {
	w := newWorld(seed, told)
	defer func() {
		if r, ok := recover().(wrong); ok {
			w.note("%s", r)
			bad = w
		}
	}()
	play(w)
	return nil
}

// carry takes a segment from a wire, any one of it while the wires are rough.
func (w *world) carry(q *[]Segment, deliver func(Segment)) {
	if len(*q) == 0 {
		return
	}
	i := 0
	if w.rough && w.rnd.IntN(3) == 0 {
		i = w.rnd.IntN(len(*q))
	}
	s := (*q)[i]
	if w.rough && w.rnd.IntN(8) == 0 {
		deliver(s) // and once more
		return
	}
	*q = append((*q)[:i:i], (*q)[i+1:]...)
	if w.rough && w.rnd.IntN(6) == 0 {
		w.note("lost: %v", s)
		return
	}
	deliver(s)
}

// pass is what the caller does with a segment.
func (w *world) pass(from Side, s Segment) {
	if w.c.State() == 0 { // it is parked until now
		if from == Client && s.Flags == frame.SYN && s.Seq == w.peers[Client].iss {
			w.c.Open(&s)
			w.out[Server] = append(w.out[Server], s)
		}
		return
	}
	before := w.c
	e, drop := w.c.Segment(from, &s)
	w.note("   %d: %v %v, %v dropped %v", from, s, e, w.c.State(), drop)
	if !drop {
		w.out[1-from] = append(w.out[1-from], s)
	}
	w.event(e, &s)
	if before.State() > w.c.State() && e != Revived && e != Completed && e != Ended {
		w.fatal("from %v to %v by %v", before.State(), w.c.State(), e)
	}
}

func (w *world) event(e Event, s *Segment) {
	switch e {
	case Stale:
		seq, flags := StaleReset(s)
		w.out[Server] = append(w.out[Server], Segment{Seq: seq, Flags: flags, WS: -1})
	case Aborting:
		w.asking = true
	case Revived, Completed:
		w.asking = false
	case Refused, Ended, Broken, Confirmed:
		w.held, w.asking = false, false
		w.ends++
		w.how = e
	}
}

// ask is the caller's timer in Resetting.
func (w *world) ask() {
	if !w.asking {
		return
	}
	if w.c.Sure() {
		w.forge(Server)
	}
	seq, ack := w.c.ProbeServer()
	w.out[Server] = append(w.out[Server], Segment{Seq: seq, Ack: ack, Flags: frame.ACK, WS: -1, Window: 100})
}

func (w *world) forge(to Side) {
	seq, ack, flags := w.c.ResetFor(to)
	w.out[to] = append(w.out[to], Segment{Seq: seq, Ack: ack, Flags: flags, WS: -1})
}

// end is for when the proxy has had enough.
func (w *world) end() {
	if s := w.c.State(); s == 0 || s == Closed || s == Reset {
		return
	}
	w.note("the proxy ends it")
	w.forge(Client)
	w.forge(Server)
	w.c.ForceReset()
	w.asking = true
}

// stranger sends something far from the window, in the name of either.
func (w *world) stranger() {
	if w.c.State() == 0 {
		return
	}
	from := Side(w.rnd.IntN(2))
	far := uint32(1<<31-1<<28) + w.rnd.Uint32N(1<<29)
	s := Segment{
		Seq: w.c.acked[1-from] + far, Ack: w.c.acked[from] + w.rnd.Uint32N(2)*far, Len: w.rnd.Uint32N(3) * 100, WS: -1,
		Flags: []uint8{frame.RST, frame.RST | frame.ACK, frame.FIN | frame.ACK, frame.ACK, frame.FIN, 0}[w.rnd.IntN(6)],
	}
	if !w.c.is(completed) && w.c.next[Client]-s.Ack < 2 {
		s.Ack += 1000 // that he can't know
	}
	before := w.c
	e, drop := w.c.Segment(from, &s)
	if w.c != before || e != None && e != Stale {
		w.fatal("a stranger's %v of %d: %v, was %+v", s, from, e, before)
	}
	if !drop {
		w.out[1-from] = append(w.out[1-from], s)
	}
}

// guesser sends something in the window in the client's name. It may end the
// connection, and do other harm, but not make the server have one that does not count.
func (w *world) guesser() {
	if w.c.State() == 0 {
		return
	}
	edge, span := w.c.acked[Server], w.c.span(Server)
	w.pass(Client, Segment{
		Seq: edge - 200 + w.rnd.Uint32N(span+200), Ack: w.c.acked[Client] + w.rnd.Uint32N(w.c.next[Server]-w.c.acked[Client]+1),
		Len: w.rnd.Uint32N(3) * 100, WS: -1, Window: uint16(w.rnd.Uint32()),
		Flags: []uint8{frame.RST, frame.FIN | frame.ACK, frame.ACK, frame.ACK, frame.SYN}[w.rnd.IntN(5)],
	})
}

func (w *world) check() {
	server := &w.peers[Server]
	if w.held != (w.ends == 0) || w.ends > 1 {
		w.fatal("given back %d times", w.ends)
	}
	if server.alive() && !w.held {
		w.fatal("the server has a connection that does not count")
	}
	if s := w.c.State(); server.alive() && (s == Opening || s == Answered) {
		w.fatal("connected, and not known")
	}
}

// step lets something happen.
func (w *world) step() {
	switch p := &w.peers[w.rnd.IntN(2)]; w.rnd.IntN(24) {
	case 0, 1:
		p.tick()
	case 2:
		p.write(1 + w.rnd.Uint32N(3000))
	case 3:
		w.ask()
	case 4:
		if w.spoof {
			w.stranger()
		}
		if w.guess && w.c.is(completed) {
			w.guesser()
		}
	case 5:
		p.own = p.most * w.rnd.Uint32N(2) // closed, or open
	default:
		w.move()
	}
	w.check()
}

func (w *world) move() {
	side := Side(w.rnd.IntN(2))
	if w.rnd.IntN(2) == 0 {
		w.carry(&w.in[side], func(s Segment) { w.pass(side, s) })
		return
	}
	w.carry(&w.out[side], func(s Segment) {
		w.note("%d gets %v", side, s)
		w.peers[side].receive(s)
	})
}

// smooth lets all that is under way arrive, and timers fire, until it is over.
func (w *world) smooth(rounds int) {
	w.rough = false
	for i := range w.peers {
		w.peers[i].own = w.peers[i].most
	}
	for range rounds {
		for range 400 {
			w.move()
			w.check()
		}
		if !w.held {
			return
		}
		w.peers[Client].tick()
		w.peers[Server].tick()
		w.ask()
	}
}
