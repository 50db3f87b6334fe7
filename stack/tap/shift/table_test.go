package shift

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

func TestSynAckIsCaught(t *testing.T) {
	for _, f := range []Flow{four, six} {
		tab, woken := newTable()
		if !send(tab, synAck(f, 1, 2)) {
			t.Error("a SYN-ACK of nobody's was kept")
		}
		tab.Pend(f)
		other := f
		other.ClientPort++
		if b := synAck(other, 1, 2); !send(tab, b) || !bytes.Equal(b, synAck(other, 1, 2)) || *woken != 0 {
			t.Error("the wrong one was caught")
		}
		if send(tab, synAck(f, 5000, 900)) || *woken != 1 {
			t.Fatal("not caught")
		}
		want := []Answer{{Flow: f, ISS: 5000, Ack: 101, Window: 65535,
			Options: frame.Options{MSS: 1460, WS: 5, SACK: true, TS: true, TSVal: 900, TSEcr: 77}}}
		if got := answers(tab); !reflect.DeepEqual(got, want) || len(answers(tab)) != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// Until the numbers are known, nothing goes either way but a client's reset.
func TestPendingWithholds(t *testing.T) {
	tab, woken := newTable()
	tab.Pend(four)
	client := func(flags uint8) []byte {
		return frame.AppendTCP(nil, in(four), &frame.Header{Seq: 101, Ack: 9001, Flags: flags}, nil)
	}
	if receive(tab, client(frame.ACK)) || receive(tab, client(frame.ACK|frame.FIN)) {
		t.Error("a segment of the client got through")
	}
	b := client(frame.RST | frame.ACK)
	if !receive(tab, b) || !bytes.Equal(b, client(frame.RST|frame.ACK)) {
		t.Error("its reset did not, or was changed")
	}
	if send(tab, plain(four, 1, 1)) || *woken != 0 {
		t.Error("a segment of netstack got through, or woke the loop")
	}
	r := frame.AppendTCP(nil, out(four), &frame.Header{Ack: 101, Flags: frame.RST | frame.ACK}, nil)
	if send(tab, r) || *woken != 1 {
		t.Error("netstack's reset got through")
	}
	if a := answers(tab); len(a) != 1 || !a[0].Reset || a[0].Flow != four {
		t.Errorf("%+v", a)
	}
}

// netstack sends its SYN-ACK again when the ACK was lost, before or after Set.
func TestSynAckAgain(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	if send(tab, synAck(four, 5000, 1900)) {
		t.Error("the second SYN-ACK was sent")
	}
	if a := answers(tab); len(a) != 1 || !a[0].Again || a[0].ISS != 5000 || tab.Set(&a[0], 1, 1) {
		t.Errorf("%+v", a)
	}
	b := plain(four, 5001, 901)
	if send(tab, b); read(t, b).seq != 7001 {
		t.Error("the second Set counted")
	}
}

func TestSetOfNobody(t *testing.T) {
	tab, _ := newTable()
	if tab.Set(&Answer{Flow: four}, 1, 2) {
		t.Error("set in an empty table")
	}
	tab.Pend(six)
	if tab.Set(&Answer{Flow: four}, 1, 2) {
		t.Error("set though unknown")
	}
	tab.Remove(six, 0)
	if tab.Set(&Answer{Flow: six}, 1, 2) {
		t.Error("set though removed")
	}
}

func TestRemovedAfterGrace(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	tab.Remove(six, 0)
	tab.Remove(four, 0)
	tab.Remove(four, int64(time.Hour))
	translated := func() bool {
		b := plain(four, 5001, 901)
		return send(tab, b) && read(t, b).seq == 7001
	}
	tab.Expire(int64(grace) - 1)
	if !translated() {
		t.Error("gone within the grace")
	}
	tab.Expire(int64(grace)) // it was used: another grace
	tab.Expire(2*int64(grace) - 1)
	if tab.Len() != 1 {
		t.Error("gone though netstack was still sending")
	}
	// Late segments of the client, answered with resets, don't keep it.
	r := frame.AppendTCP(nil, out(four), &frame.Header{Seq: 5001, Flags: frame.RST}, nil)
	if send(tab, r); read(t, r).seq != 7001 {
		t.Error("the reset was not translated")
	}
	tab.Expire(2 * int64(grace))
	if tab.Len() != 0 || tab.ended != nil {
		t.Errorf("%d flows are left", tab.Len())
	}
	if translated() {
		t.Error("translated though gone")
	}
}

// A client port that is used again while its old flow is still there.
func TestClientPortAgain(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	tab.Remove(four, 0)
	if send(tab, synAck(four, 5000, 990)) || len(answers(tab)) != 0 {
		t.Error("its own SYN-ACK was sent, or kept")
	}
	if b := synAck(four, 6000, 1000); !send(tab, b) || !bytes.Equal(b, synAck(four, 6000, 1000)) {
		t.Fatal("the SYN-ACK of a connection without a cookie was not sent")
	}
	b := plain(four, 6001, 1001)
	if !send(tab, b) || read(t, b).seq != 6001 {
		t.Error("it was translated")
	}
	c := frame.AppendTCP(nil, in(four), &frame.Header{Ack: 6002, Flags: frame.ACK}, nil)
	if !receive(tab, c) || read(t, c).ack != 6002 {
		t.Error("its answer was translated")
	}
	// And with a cookie once more.
	join(t, tab, four, 8000, 2000, 9000, 1)
	if tab.Len() != 1 {
		t.Errorf("%d flows", tab.Len())
	}
	tab.Expire(int64(grace)) // the ending of the old one
	b = plain(four, 8001, 2001)
	if send(tab, b); read(t, b).seq != 9001 || tab.Len() != 1 {
		t.Error("the new flow ended with the old one")
	}
}

// A half-open flow that was given up: what netstack still sends is swallowed.
func TestRemovedWhilePending(t *testing.T) {
	tab, woken := newTable()
	tab.Pend(four)
	tab.Remove(four, 0)
	if send(tab, plain(four, 1, 1)) || *woken != 0 {
		t.Error("a segment got through, or woke the loop")
	}
	tab.Expire(int64(grace))
	if tab.Len() != 0 {
		t.Error("it stays")
	}
}

// Chains that are longer than one.
func TestManyFlows(t *testing.T) {
	tab, _ := newTable()
	const n = 1000
	flow := func(i int) Flow { f := six; f.ClientPort = uint16(i); return f }
	for i := range n {
		tab.Pend(flow(i))
		tab.Set(&Answer{Flow: flow(i)}, uint32(i), 0)
	}
	for i := 0; i < n; i += 3 {
		tab.Remove(flow(i), 0)
	}
	tab.Expire(int64(grace))
	for i := range n {
		b := plain(flow(i), 10, 0)
		want := uint32(10 + i)
		if i%3 == 0 {
			want = 10
		}
		if send(tab, b); read(t, b).seq != want {
			t.Fatalf("flow %d has %d", i, read(t, b).seq)
		}
	}
	if tab.Len() != n-(n+2)/3 {
		t.Errorf("%d flows", tab.Len())
	}
}
