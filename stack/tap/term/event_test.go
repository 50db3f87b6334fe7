package term

import (
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/waiter"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// What happened to a connection that was given up reaches nobody, least of all
// the one that has its number now.
func TestLateEvents(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	old := r.conns[conn]
	f.send(frame.ACK, 'x')
	f.want(frame.ACK) // so its note is there
	r.Reset(conn)
	r.next()
	g := r.client(2)
	if again := g.handshake(); again != conn {
		t.Fatalf("number %d, want %d again", again, conn)
	}
	old.note.NotifyEvent(waiter.EventIn)
	n := 0
	r.Events(10, func(e Event) { n++ })
	if n != 0 {
		t.Errorf("%d events", n)
	}
	g.send(frame.ACK, 'y')
	g.want(frame.ACK)
	if list := r.events(); len(list) != 1 || list[0].Conn != conn {
		t.Errorf("events %+v", list)
	}
}

// Many things that happen to a connection before the loop looks are one event,
// and the loop is woken once.
func TestEventsCoalesce(t *testing.T) {
	wakes := 0
	m := mail{wake: func() { wakes++ }}
	notes := make([]note, 3)
	for i := range notes {
		notes[i].mail = &m
	}
	for range 2 {
		for range 5 {
			for i := range notes {
				notes[i].NotifyEvent(waiter.EventIn)
			}
		}
		for i := range notes {
			if m.take() != &notes[i] {
				t.Errorf("note %d is another", i)
			}
		}
		if m.take() != nil {
			t.Error("more notes")
		}
	}
	if wakes != 1 {
		t.Errorf("woken %d times", wakes)
	}
}

// The loop is woken only for what happens while it does not look, and was not
// told that there is more.
func TestWake(t *testing.T) {
	r := newRig(t, Config{})
	f, g := r.client(1), r.client(2)
	conn := f.handshake()
	g.handshake()
	wakes := func(n int, when string) {
		t.Helper()
		if r.wakes != n {
			t.Errorf("%s: woken %d times", when, r.wakes)
		}
	}
	f.send(frame.ACK, 'x')
	g.send(frame.ACK, 'x')
	if !r.Events(1, func(e Event) { r.ShutdownWrite(conn) }) {
		t.Error("the second is forgotten")
	}
	r.events()
	r.ShutdownWrite(conn)
	r.Send(2, []byte("x"))
	wakes(0, "for what the loop knows")
	r.clock.Advance(time.Hour) // FIN and data are given up: not in Events, as this clock has it
	wakes(1, "once for many things")
	if list := r.events(); len(list) != 2 {
		t.Errorf("events %+v", list)
	}
}

// Events comes back after as many as it may tell, and goes on where it was.
func TestEventsAreBounded(t *testing.T) {
	r := newRig(t, Config{})
	const clients = 10
	for i := range clients {
		f := r.client(uint16(i + 1))
		f.synAck()
		f.send(frame.ACK)
		f.send(frame.ACK, 'x')
		f.want(frame.ACK)
	}
	var got []Event
	for range clients {
		before := len(got)
		if !r.Events(1, func(e Event) { got = append(got, e) }) && len(got) < clients {
			t.Error("no more, it said")
		}
		if len(got) != before+1 {
			t.Fatalf("%d events at once", len(got)-before)
		}
	}
	for i, e := range got {
		if e.Kind != Accepted || e.Peer.Port != uint16(i+1) {
			t.Errorf("event %d is %+v", i, e)
		}
	}
}

// However the last ACK of a handshake, data and FIN come in, together or not,
// the events tell of all of it.
func TestEarlyData(t *testing.T) {
	for splits := range 1 << 3 {
		r := newRig(t, Config{})
		f := r.client(1)
		f.synAck()
		var got []Event
		steps := []func(){
			func() { f.send(frame.ACK) },
			func() { f.send(frame.ACK|frame.PSH, []byte("data")...) },
			func() { f.send(frame.ACK | frame.FIN) },
		}
		for i, step := range steps {
			if step(); splits>>i&1 != 0 || i == 2 {
				for r.Events(10, func(e Event) { got = append(got, e) }) {
				}
			}
		}
		if got[0].Kind != Accepted || len(got) > 3 {
			t.Errorf("split %b: events %+v", splits, got)
		}
		if last := got[len(got)-1].Ready; last != sys.In|sys.Out|sys.Fin || r.Poll(1) != last {
			t.Errorf("split %b: ready for %b in the end", splits, last)
		}
		b := make([]byte, 10)
		if n, e := r.Recv(1, b); string(b[:n]) != "data" || e != 0 {
			t.Errorf("split %b: received %q, %v", splits, b[:n], e)
		}
		if n, e := r.Recv(1, b); n != 0 || e != 0 {
			t.Errorf("split %b: received %d, %v at the end", splits, n, e)
		}
	}
}
