package tap

import (
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// A SYN is parked, and not answered; so is it when it comes again. What it says
// last holds.
func TestSYNParked(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	r.want("arrived")
	i := r.only()
	if r.Peer(i) != c.peer() || r.Virtual(i) != web || r.Record(i).Since != r.now {
		t.Errorf("peer %v, virtual server %d, since %d", r.Peer(i), r.Virtual(i), r.Record(i).Since)
	}
	since := r.now
	for range 4 {
		c.after(time.Second).syn()
		r.want()
	}
	if r.Record(i).Since != since {
		t.Error("its place is another one now")
	}
	c.none("parked")
	if got := r.totals(); got.Syns != 1 || got.SynRepeats != 4 || got.Parked != 1 {
		t.Errorf("%+v", got)
	}
}

// Both families, and each client has a record of its own.
func TestManyClients(t *testing.T) {
	r := newRig(t)
	r.listen(web6, Virtual{Listen: at6})
	for n := range uint16(100) {
		r.client(n).syn()
		r.client6(n).syn()
	}
	if r.arrived != 200 || r.Len() != 200 {
		t.Errorf("%d arrived, %d records", r.arrived, r.Len())
	}
	of := map[int]int{}
	r.Handshakes(func(i uint32) { of[r.Virtual(i)]++ })
	if of[web] != 100 || of[web6] != 100 {
		t.Errorf("%v", of)
	}
	r.audit()
}

// What a client does while it is parked, and what becomes of it.
func TestParkedClientResets(t *testing.T) {
	for name, x := range map[string]struct {
		after uint32 // the reset's number is that far behind the ISN
		left  bool
	}{
		"ISN": {0, true}, "behind the SYN": {1, true},
		"two behind": {2, false}, "one before": {1<<32 - 1, false}, "far off": {1 << 30, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.client(1)
			c.syn()
			r.want("arrived")
			c.rst(c.seq + x.after)
			if x.left {
				r.want("left")
				return
			}
			r.want()
			if got := r.totals(); got.ResetsIgnored != 1 || got.SynResets != 0 || got.Parked != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The owner may keep the record of a client that left, until it has heard what
// it asked for. Then the port is not used again before.
func TestDeparted(t *testing.T) {
	r := newRig(t)
	r.departs = true
	c := r.client(1)
	c.syn()
	c.rst(c.seq)
	r.want("arrived", "left")
	i := r.only()
	c.syn()          // late
	c.rst(c.seq)     // again
	c.seq += 1 << 20 // its next connection
	c.after(3 * time.Second).syn()
	r.pass(10 * time.Minute) // nor is it silent
	r.want()
	r.free(i)
	c.after(time.Second).syn()
	r.want("arrived")
}

// A client that comes again from the same port has given its last try up: a
// record of its own, and a place behind.
func TestNewISNReplaces(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	c.after(5 * time.Second)
	c.seq += 12345
	c.syn()
	r.want("arrived", "left", "arrived")
	if i := r.only(); r.Record(i).Since != r.now || r.table.Seq(i) != c.seq {
		t.Errorf("since %d, ISN %d", r.Record(i).Since, r.table.Seq(i))
	}
	c.none("replaced")
}

// Who stops asking has gone. Nothing says so, but the SYN that does not come.
func TestSilentClient(t *testing.T) {
	r := newRig(t)
	patient, silent := r.client(1), r.client(2)
	patient.syn()
	silent.syn()
	r.want("arrived", "arrived")
	for range 5 {
		patient.after(time.Second).syn()
	}
	r.pass(time.Second)
	r.want("left")
	if i := r.only(); r.Peer(i) != patient.peer() {
		t.Error("the wrong one was taken to be gone")
	}
	for _, gap := range []int{2, 4, 9, 16, 32, 64} {
		patient.after(time.Duration(gap) * time.Second).syn()
	}
	r.want()
	if n := r.totals().SynSilent; n != 1 {
		t.Errorf("%d silent", n)
	}
}

// A full table takes nobody, and says nothing: the client comes again.
func TestTableFull(t *testing.T) {
	r := newRig(t, handshakes(3))
	r.Change(web, Virtual{Share: 50}) // what is taken of a share is given back
	for n := range uint16(5) {
		r.client(n).syn()
	}
	r.want("arrived", "arrived", "arrived")
	late := r.client(3)
	late.none("full")
	if n := r.totals().SynDropsFull; n != 2 {
		t.Errorf("%d dropped", n)
	}
	first := r.client(0)
	if n := r.shares.Held(&first.f.Src); n != 3 {
		t.Errorf("%d shares for 3 records", n)
	}
	first.rst(first.seq)
	late.after(time.Second).syn()
	r.want("left", "arrived")
}

// Who is refused hears of it, or does not: as its virtual server has it.
func TestRefuse(t *testing.T) {
	r := newRig(t)
	r.decide = func(uint32) decision { return toRefuse }
	c := r.client(1)
	c.syn()
	c.wantReset()
	r.want("arrived")
	r.decide = nil
	c.syn()
	r.refuse(r.only())
	c.wantReset()

	r.Change(web, Virtual{Silent: true})
	c.syn()
	r.refuse(r.only())
	c.none("refused by silence")
}

// An owner that has no place for anybody lets the client try again.
func TestIgnore(t *testing.T) {
	r := newRig(t)
	r.decide = func(uint32) decision { return toIgnore }
	c := r.client(1)
	c.syn()
	c.none("ignored")
	r.decide = nil
	c.after(time.Second).syn()
	r.want("arrived", "arrived")
	if n := r.totals().SynDropsFull; n != 1 {
		t.Errorf("%d dropped", n)
	}
}

// Only a bare SYN with the right checksum begins a handshake, and a mark of the
// device is as good as a right checksum.
func TestDamagedSYN(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	b := c.segment(frame.SYN, "")
	b[len(b)-1] ^= 1 // the shift of its window
	r.dev.Send(append([]byte(nil), b...))
	r.turn()
	r.want()
	if n := r.totals().SynBadChecksum; n != 1 {
		t.Errorf("%d with a wrong checksum", n)
	}
	for _, mark := range []uint8{1, 2} {
		c.marked(append([]byte(nil), b...), mark)
		r.want("arrived")
		r.free(r.only())
	}

	c.syn()
	r.want("arrived")
	rst := c.segment(frame.RST, "")
	rst[len(rst)-3] ^= 1
	r.dev.Send(rst)
	r.turn()
	r.want() // a damaged reset is none
}

// Segments that are no beginning change nothing, and netstack has an answer.
func TestNoHandshake(t *testing.T) {
	for name, flags := range map[string]uint8{
		"ACK": frame.ACK, "FIN": frame.FIN | frame.ACK, "data": frame.ACK | frame.PSH, "SYN-ACK": frame.SYN | frame.ACK,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, known := range []bool{false, true} {
				c := r.client(1)
				if known {
					c.syn()
					r.want("arrived")
				}
				c.sendAt(c.seq+1, 777, flags)
				if p, _ := c.next(); p.Flags&frame.RST == 0 || p.Seq != 777 {
					t.Errorf("known %v: %+v, want a reset of 777", known, p)
				}
				r.want()
			}
		})
	}
	r := newRig(t)
	c := r.client(1)
	for _, flags := range []uint8{0, frame.FIN, frame.SYN | frame.FIN, frame.SYN | frame.RST, frame.SYN | frame.FIN | frame.PSH} {
		c.send(flags, "")
		r.settle()
		if b := r.take(c); b != nil {
			t.Errorf("%x is answered with %x", flags, b)
		}
	}
	r.want()
	if n := r.Conns().Stats().SegmentsOut; n != 0 {
		t.Errorf("netstack sent %d segments", n)
	}
	c.send(frame.SYN|frame.ECE|frame.CWR|frame.PSH, "early data") // a SYN all the same
	r.want("arrived")
}
