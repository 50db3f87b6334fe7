package term

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A half-open endpoint goes when its client resets it, when the owner forgets
// it, and by itself after two minutes.
func TestHalfOpenEnds(t *testing.T) {
	r := newRig(t, Config{})
	pending := func() int { return len(r.net.RegisteredEndpoints()) - 1 } // but the listener

	f := r.client(1)
	f.synAck()
	f.sendAt(f.seq+70000, 0, frame.RST, nil) // outside of the window
	f.send(frame.RST)
	if r.step(); pending() != 0 {
		t.Error("still there behind a reset")
	}

	f = r.client(2)
	f.synAck()
	if !r.Forget(f.peer(), f.local()) {
		t.Error("nothing to forget")
	}
	if r.Forget(f.peer(), f.local()) {
		t.Error("forgot twice")
	}
	r.none("when forgotten")
	if n := pending(); n != 0 {
		t.Errorf("%d endpoints left", n)
	}
	f.send(frame.ACK) // comes too late
	if p, _ := r.next(); p.Flags != frame.RST || p.Seq != f.ack {
		t.Errorf("%+v, want a reset", p)
	}

	f = r.client(3)
	f.synAck()
	for range 126 {
		r.clock.Advance(time.Second)
	}
	if pending() != 1 {
		t.Error("gone early")
	}
	if r.clock.Advance(2 * time.Second); pending() != 0 {
		t.Error("still there after two minutes")
	}
	synAcks := 0
	for len(r.out) > 0 {
		r.next()
		synAcks++
	}
	if synAcks != 6 {
		t.Errorf("%d repeated SYN-ACKs, want 6", synAcks)
	}
	if r.wakes > 0 {
		t.Error("the loop was woken for no connection")
	}
}

// A connection is not forgotten.
func TestForgetSparesConnections(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	if r.Forget(f.peer(), f.local()) {
		t.Error("forgot a connection")
	}
	if n, e := r.Send(conn, []byte("x")); n != 1 || e != 0 {
		t.Errorf("sent %d, %v", n, e)
	}
	f.want(frame.ACK)
	// Nor a listener, which is what netstack finds for a flow that it does not know.
	f = r.client(2)
	if r.Forget(f.peer(), f.local()) {
		t.Error("forgot something that never was")
	}
	f.handshake()
}

// A SYN that comes twice before netstack looks is one handshake, and nothing is
// left of it when it is over.
func TestRepeatedSYN(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	for range 3 {
		f.sendAt(f.seq, 0, frame.SYN, nil)
		conn := f.handshake()
		r.none("for the second")
		if n := r.Stats().Opened; n == 0 {
			t.Errorf("%d opened", n)
		}
		r.Reset(conn)
		if p, _ := r.next(); !p.Has(frame.RST) {
			t.Errorf("%+v is no reset", p)
		}
		if n := len(r.net.RegisteredEndpoints()) + len(r.net.CleanupEndpoints()); n != 1 {
			t.Errorf("%d endpoints left", n)
		}
	}
	// One that comes again later is no new one either.
	f.synAck()
	f.sendAt(f.seq-1, 0, frame.SYN, nil)
	if p, _ := r.next(); p.Flags != frame.ACK {
		t.Errorf("%+v for a repeated SYN", p)
	}
	f.send(frame.ACK)
	r.events()
}

// What is known of a flow, and for how long.
func TestKnown(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	known := func(want bool, when string) {
		t.Helper()
		r.step()
		if r.Known(f.peer(), f.local()) != want {
			t.Errorf("%s: known is %v", when, !want)
		}
	}
	known(false, "before")
	f.synAck()
	known(true, "half-open")
	f.send(frame.ACK)
	conn := r.events()[0].Conn
	known(true, "established")
	if !r.Holds(conn) {
		t.Error("not held")
	}
	f.send(frame.RST)
	known(false, "reset")
	if r.Holds(conn) {
		t.Error("held when reset")
	}
	r.Close(conn)
	f.seq += 1000
	r.Close(f.handshake())
	f.want(frame.ACK | frame.FIN)
	f.send(frame.ACK | frame.FIN)
	f.want(frame.ACK)
	known(false, "TIME-WAIT")
	r.Forget(f.peer(), f.local())
	known(false, "forgotten")
}

// Advertised is what SYN-ACKs say.
func TestAdvertised(t *testing.T) {
	for _, c := range []Config{{}, {MTU: 9000}, {Knobs: Knobs{MSS: 1000}}, {MTU: 1300, Knobs: Knobs{Receive: Range{Most: 64 << 10}}}} {
		r := newRig(t, c)
		if err := r.Listen(1, server6); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*flow{r.client(1), r.from(client6, 1, server6)} {
			f.send(frame.SYN)
			p, b := r.next()
			o := p.Options(b.b)
			if mss, ws := r.Advertised(p.V6); mss != o.MSS || ws != o.WS {
				t.Errorf("%+v: advertised %d, %d; sent %d, %d", c, mss, ws, o.MSS, o.WS)
			}
		}
	}
}

// There are never SYN cookies, however many are half-open: an answer has all
// options, and each handshake can be completed.
func TestNoCookies(t *testing.T) {
	n := 20000
	if testing.Short() || raceEnabled {
		n = 2000
	}
	r := newRig(t, Config{})
	flows := make([]*flow, n)
	for i := range flows {
		flows[i] = r.client(uint16(1000 + i))
		flows[i].send(frame.SYN)
	}
	for range flows {
		p, b := r.next()
		f := flows[p.DstPort-1000]
		f.ack = p.Seq + 1
		if o := p.Options(b.b); o.WS < 0 || !o.SACK || o.MSS != 1460 {
			t.Fatalf("SYN-ACK with %+v", o)
		}
	}
	if c := r.net.Stats().TCP.ListenOverflowSynCookieSent.Value(); c != 0 {
		t.Errorf("%d cookies", c)
	}
	for _, f := range flows {
		f.send(frame.ACK)
	}
	for got := 0; got < n; {
		got += len(r.events())
	}
}

// An ACK out of nowhere, even behind a SYN, is no connection.
func TestBlindACK(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	f.ack = 12345
	f.send(frame.ACK)
	if p, _ := r.next(); p.Flags != frame.RST || p.Seq != 12345 {
		t.Errorf("%+v, want a reset", p)
	}
	f = r.client(2)
	f.synAck()
	f.sendAt(f.seq, f.ack+1, frame.ACK, nil)
	if p, _ := r.next(); p.Flags&frame.RST == 0 || p.Seq != f.ack+1 {
		t.Errorf("%+v, want a reset", p)
	}
	if n := r.Stats().Opened; n != 0 {
		t.Errorf("%d opened", n)
	}
	f.send(frame.ACK) // the right one still comes through
	if list := r.events(); len(list) != 1 || list[0].Kind != Accepted {
		t.Errorf("events %+v", list)
	}
}

// A client may come again from the same port: at once after a reset, and while
// we remember the last connection if its numbers went on.
func TestPortReused(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	for range 3 {
		r.Reset(f.handshake())
		if p, _ := r.next(); !p.Has(frame.RST) {
			t.Fatalf("%+v is no reset", p)
		}
	}
	timeWait := func() {
		t.Helper()
		r.Close(f.handshake())
		f.want(frame.ACK | frame.FIN)
		f.send(frame.ACK | frame.FIN)
		f.want(frame.ACK)
		if n := r.Stats().Connections; n != 1 {
			t.Fatalf("%d connections, want one in TIME-WAIT", n)
		}
	}
	for range 3 {
		timeWait()
		f.seq += 100000
	}
	timeWait()
	f.seq -= 1000000
	f.send(frame.SYN)
	r.none("for numbers that went back")
	if !r.Forget(f.peer(), f.local()) {
		t.Error("nothing to forget")
	}
	r.none("when forgotten")
	timeWait()
	r.clock.Advance(1900 * time.Millisecond)
	if n := r.Stats().Connections; n != 1 {
		t.Errorf("%d connections before TIME-WAIT is over", n)
	}
	r.clock.Advance(200 * time.Millisecond)
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections behind TIME-WAIT", n)
	}
}

// A client that is there already when it connects anew, after a crash, is asked,
// and gets through with its next SYN.
func TestCrashedClient(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.seq += 5000
	f.send(frame.SYN)
	p, _ := r.next()
	if p.Flags != frame.ACK {
		t.Fatalf("%+v is no challenge", p)
	}
	f.sendAt(p.Ack, 0, frame.RST, nil)
	if list := r.events(); list[0].Conn != conn || list[0].Ready&sys.Err == 0 {
		t.Errorf("events %+v", list)
	}
	if e := r.Error(conn); e != unix.ECONNRESET {
		t.Errorf("error %v", e)
	}
	r.Close(conn)
	f.seq--
	f.handshake()
}

// A frame without a mark is verified, one with a mark is taken as it is; both
// large and small, of both families.
func TestChecksums(t *testing.T) {
	r := newRig(t, Config{})
	if err := r.Listen(1, server6); err != nil {
		t.Fatal(err)
	}
	for i, f := range []*flow{r.client(1), r.from(client6, 1, server6)} {
		conn := f.handshake()
		for _, size := range []int{1, 1400, 3000, 40000} {
			good := noise(size, 1)
			h := frame.Header{Seq: f.seq, Ack: f.ack, Flags: frame.ACK, Window: 1000}
			b := frame.AppendTCP(nil, &f.f, &h, good)
			b[len(b)-1] ^= 1
			bad := r.Stats().BadChecksum
			r.injectRoom(b, false)
			r.step()
			if n := r.Stats().BadChecksum; n != bad+1 {
				t.Errorf("flow %d: %d bytes with a wrong checksum taken", i, size)
			}
			r.injectRoom(b, true)
			f.seq += uint32(size)
			f.want(frame.ACK)
			good[size-1] ^= 1
			got := make([]byte, size+1)
			n, e := r.Recv(conn, got)
			if e != 0 {
				t.Error(e)
			}
			same(t, "marked", got[:n], good)
			for len(r.out) > 0 { // window updates
				r.next()
			}
		}
	}
}

// injectRoom hands a frame over as one that was read from a device.
func (r *rig) injectRoom(b []byte, checked bool) {
	head, tail := r.Room()
	copy(tail, b[copy(head, b):])
	r.InjectRoom(len(b), checked)
}
