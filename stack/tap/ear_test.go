package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// aged lets time pass in which the loop stands still, and then does all that is due
// before it reads a frame.
func (r *rig) aged(d time.Duration) {
	r.now += int64(d)
	for range 20 {
		r.Turn(r.now)
		r.now += int64(10 * time.Millisecond)
	}
}

// Who has sent its SYN again is not silent, though that lies unread.
func TestUnreadSYNIsNoSilence(t *testing.T) {
	r := newRig(t)
	a, b := r.client(1), r.client(2)
	a.syn()
	b.syn()
	r.told = nil
	r.dev.Send(a.segment(frame.SYN, ""))
	r.aged(time.Minute)
	r.want()
	r.turn() // it is read, and
	r.aged(time.Second)
	r.want("left") // the other one was silent
}

// A server has answered, and a client completed, what lies unread.
func TestForwardUnreadIsNoSilence(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Idle: 20 * time.Second})
	c := r.client(1)
	c.syn()
	s, _ := r.serverSyn()
	r.told = nil
	h := frame.Header{Seq: s.seq, Ack: s.ack, Flags: frame.SYN | frame.ACK, Window: 60000, Options: &s.opts}
	r.behind.Send(frame.AppendTCP(nil, &s.f, &h, nil))
	r.aged(time.Minute) // its patience is 5 s
	r.want()
	r.turn()
	r.want("answered")
	s.seq++
	p, _ := c.next()
	c.ack, c.seq = p.Seq+1, c.seq+1
	r.dev.Send(c.segment(frame.ACK, ""))
	r.aged(time.Minute) // 3 s
	r.turn()
	r.want()
	s.want(frame.ACK, "")
	r.dev.Send(c.segment(frame.ACK, "request"))
	r.aged(time.Minute) // 20 s
	r.turn()
	r.aged(time.Second)
	r.want()
	s.want(frame.ACK, "request")
	r.aged(time.Minute)
	s.want(frame.RST, "") // silent at last
	r.told = nil
}

// Where more comes than is read, time goes on by what a queue can hold.
func TestEarOfFullQueue(t *testing.T) {
	d := ether.New(1)
	defer d.Close()
	e := ear{device: onLink{d}, queue: d.Queue(0)}
	if e.heard(5) != 5 {
		t.Error("nothing is there, and that is not known")
	}
	d.Send(frame.AppendGratuitousARP(nil, ether.Router, &frame.Addr{}))
	now := int64(10)
	e.read(64, true, now)
	for range deepest / 64 {
		if at := e.heard(now); at != 10 {
			t.Fatalf("at %d all was heard until %d, want 10", now, at)
		}
		now++
		e.read(64, false, now)
	}
	began := now
	for range deepest / 64 {
		now++
		e.read(64, false, now)
	}
	if at := e.heard(now); at != began {
		t.Errorf("all was heard until %d, want %d", at, began)
	}
	d.Set(device.Down)
	if at := e.heard(now); at != now {
		t.Errorf("the device is down, and all was heard until %d, want %d", at, now)
	}
}
