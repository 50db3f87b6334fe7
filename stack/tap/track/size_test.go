package track

import (
	"testing"

	"penstock/stack/small"
	"penstock/stack/tap/frame"
)

// A flow's record has room for this.
func TestConnIsSmall(t *testing.T) { small.Record[Conn](t, 24) }

// life has each kind of segment.
func life(c *Conn) {
	for _, x := range []struct {
		from Side
		s    Segment
	}{
		{Server, Segment{Seq: 0, Ack: 1, Flags: frame.SYN | frame.ACK, Window: 1000, WS: 7}},
		{Client, Segment{Seq: 1, Ack: 1, Flags: frame.ACK, Window: 1000}},
		{Client, Segment{Seq: 1, Ack: 1, Flags: frame.ACK, Window: 1000, Len: 100}},
		{Server, Segment{Seq: 1, Ack: 101, Flags: frame.ACK, Window: 1000, Len: 100}},
		{Client, Segment{Seq: 777, Flags: frame.RST}},
		{Server, Segment{Seq: 101, Ack: 101, Flags: frame.ACK, Window: 1000}},
		{Client, Segment{Seq: 101, Ack: 101, Flags: frame.ACK | frame.FIN, Window: 1000}},
		{Server, Segment{Seq: 101, Ack: 102, Flags: frame.ACK | frame.FIN, Window: 1000}},
		{Client, Segment{Seq: 102, Ack: 102, Flags: frame.ACK, Window: 1000}},
	} {
		c.Segment(x.from, &x.s)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	var c Conn
	if n := testing.AllocsPerRun(100, func() {
		c.Open(&Segment{Flags: frame.SYN, WS: 7})
		life(&c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c.State() != Closed {
		t.Errorf("it is %v", c.State())
	}
}

func BenchmarkLife(b *testing.B) {
	var c Conn
	for b.Loop() {
		c.Open(&Segment{Flags: frame.SYN, WS: 7})
		life(&c)
	}
}

// Of a connection that is up, which is nearly all there is.
func BenchmarkData(b *testing.B) {
	var c Conn
	c.Open(&Segment{Flags: frame.SYN, WS: 7})
	s := Segment{Seq: 0, Ack: 1, Flags: frame.SYN | frame.ACK, Window: 1000, WS: 7}
	c.Segment(Server, &s)
	up := Segment{Seq: 1, Ack: 1, Flags: frame.ACK, Window: 1000, Len: 1460}
	down := Segment{Seq: 1, Ack: 1, Flags: frame.ACK, Window: 1000}
	for b.Loop() {
		c.Segment(Client, &up)
		up.Seq += up.Len
		down.Ack = up.Seq
		c.Segment(Server, &down)
	}
}
