package relay

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

func TestCopy(t *testing.T) {
	o := newOne(t, sizes{})
	o.dst.await(t, sys.Out)
	o.want(Stuck) // nothing was said to be there
	o.send([]byte("hello"))
	o.src.await(t, sys.In)
	o.want(Stuck)
	o.wantFar([]byte("hello"))
	if o.src.Ready&sys.In != 0 {
		t.Error("a short read left In on: it costs a call that finds nothing")
	}
	if o.f.Bytes != 5 || o.w.Pipes() != 0 {
		t.Errorf("%d bytes, %d pipes; want 5 and none", o.f.Bytes, o.w.Pipes())
	}
	o.empty()
}

func TestSplicesAfterTwoFullReads(t *testing.T) {
	o := newOne(t, sizes{nearIn: 1 << 20})
	o.dst.await(t, sys.Out)
	for round, c := range []struct{ bytes, pipes int }{
		{copyBuffer - 1, 0},
		{2*copyBuffer - 1, 0}, // one full read
		{3 * copyBuffer, 1},
		{100, 1}, // a trickle is copied
	} {
		b := some(uint64(round), c.bytes)
		o.send(b)
		o.src.awaitUnread(t, c.bytes)
		o.want(Stuck)
		o.wantFar(b)
		o.dst.await(t, sys.Out)
		if o.w.Pipes() != c.pipes {
			t.Errorf("%d pipes after %d bytes, want %d", o.w.Pipes(), c.bytes, c.pipes)
		}
		o.empty()
	}
}

// While the destination has no room the source is left alone, in both modes:
// what is held is one buffer or one pipe at most.
func TestStuckDestination(t *testing.T) {
	for name, full := range map[string]uint8{"copy": 0, "splice": spliceAfter} {
		t.Run(name, func(t *testing.T) {
			o := newOne(t, sizes{nearIn: 1 << 20, nearOut: 8 << 10, farIn: 8 << 10})
			o.f.full = full
			b := some(1, 600_000)
			go o.src.far.Write(b)
			o.dst.await(t, sys.Out)
			o.src.awaitUnread(t, 300_000)
			for o.f.held == 0 { // a destination may take a little more now and then
				o.src.await(t, sys.In)
				o.dst.await(t, sys.Out)
				o.want(Stuck)
			}
			most := map[string]uint32{"copy": copyBuffer, "splice": pipeSize}[name]
			if o.f.held > most {
				t.Errorf("%d bytes held, at most %d", o.f.held, most)
			}
			held, unread := o.f.held, o.src.unread(t)
			o.dst.Ready &^= sys.Out
			o.src.Ready |= sys.In
			for range 10 {
				o.want(Stuck)
			}
			if o.f.held != held || o.src.unread(t) < unread {
				t.Error("the source was read, and the destination has no room")
			}
			got := make([]byte, 0, len(b))
			part := make([]byte, 3000)
			for len(got) < len(b) {
				o.src.events()
				o.dst.events()
				o.pump()
				n, err := o.dst.far.Read(part)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, part[:n]...)
			}
			if !bytes.Equal(got, b) {
				t.Error("other bytes arrived than were sent")
			}
			o.empty()
		})
	}
}

// C42: when FIN was announced, a short read is the last one. A hint that may
// be stale proves nothing, and an error is still to be read.
func TestC42EndWithLastBytes(t *testing.T) {
	for name, extra := range map[string]sys.Ready{"sure": 0, "unsure": sys.Unsure} {
		t.Run(name, func(t *testing.T) {
			o := newOne(t, sizes{})
			o.send([]byte("last words"))
			o.src.far.CloseWrite()
			o.dst.await(t, sys.Out)
			o.src.await(t, sys.In|sys.Fin)
			o.src.Ready |= extra
			o.want(Done)
			o.wantFar([]byte("last words"))
			o.wantFarEOF()
			if !o.f.Done() {
				t.Error("not done")
			}
			o.want(Done)
			o.empty()
		})
	}
}

func TestFinUnknown(t *testing.T) {
	o := newOne(t, sizes{})
	o.send([]byte("last words"))
	o.src.far.CloseWrite()
	o.dst.await(t, sys.Out)
	o.src.await(t, sys.Fin)
	o.src.Ready = sys.In // the event of the bytes came alone
	o.want(Stuck)
	o.wantFar([]byte("last words"))
	o.src.Ready |= sys.In | sys.Fin
	o.want(Done)
	o.wantFarEOF()
}

// A FIN of the descriptor's last owner must not end its present one's stream.
func TestStaleFin(t *testing.T) {
	o := newOne(t, sizes{})
	o.dst.await(t, sys.Out)
	o.src.Ready |= sys.In | sys.Out | sys.Unsure
	o.send([]byte("first"))
	o.src.awaitUnread(t, 5)
	o.want(Stuck)
	o.wantFar([]byte("first"))
	if o.src.Ready&(sys.In|sys.Unsure) != 0 {
		t.Errorf("ready for %05b after all was read", o.src.Ready)
	}
	o.send([]byte("second"))
	o.src.await(t, sys.In)
	o.want(Stuck)
	o.wantFar([]byte("second"))
}

// The end of a splice is read by itself.
func TestEndAfterSplice(t *testing.T) {
	o := newOne(t, sizes{nearIn: 1 << 20})
	b := some(3, 5*copyBuffer+17)
	o.send(b)
	o.src.far.CloseWrite()
	o.dst.await(t, sys.Out)
	o.src.awaitUnread(t, len(b))
	o.src.await(t, sys.Fin)
	o.want(Done)
	o.wantFar(b)
	o.wantFarEOF()
	o.empty()
}

// The FIN that closing sends anyway is not sent before.
func TestLastNeedsNoFin(t *testing.T) {
	o := newOne(t, sizes{})
	o.src.far.CloseWrite()
	o.dst.await(t, sys.Out)
	o.src.await(t, sys.Fin)
	if s := o.w.Pump(&o.f, &o.src.Side, &o.dst.Side, true); s != Done {
		t.Fatalf("Pump says %d", s)
	}
	if _, e := sys.Send(int(o.dst.FD), []byte("x")); e != 0 {
		t.Errorf("%v: a FIN was sent", e)
	}
	o.wantFar([]byte("x"))
}

// A source that resets behind its bytes: they are passed on if the kernel
// still gives them, and the end is no clean one, whoever reads the error.
func TestSourceResets(t *testing.T) {
	for name, cut := range map[string]bool{"error read by Pump": false, "error read before": true} {
		t.Run(name, func(t *testing.T) {
			o := newOne(t, sizes{})
			o.send([]byte("so far"))
			o.src.awaitUnread(t, 6)
			o.src.reset()
			o.dst.await(t, sys.Out)
			o.src.await(t, sys.Err)
			if cut {
				if e := sys.Error(int(o.src.FD)); e != unix.ECONNRESET {
					t.Errorf("error %v", e)
				}
				o.f.Cut()
			}
			o.want(SrcReset)
			o.wantFar([]byte("so far"))
			if o.f.Done() {
				t.Error("done, as if it had ended well")
			}
			o.empty()
		})
	}
}

func TestSourceResetsWhileSplicing(t *testing.T) {
	o := newOne(t, sizes{nearIn: 1 << 20})
	o.f.full = spliceAfter
	b := some(4, 100_000)
	o.send(b)
	o.src.awaitUnread(t, len(b))
	o.src.reset()
	o.dst.await(t, sys.Out)
	o.src.await(t, sys.Err)
	got := make(chan []byte)
	go func() { all, _ := io.ReadAll(o.dst.far); got <- all }()
	s := o.pump()
	for ; s == Stuck; s = o.pump() {
		o.src.Ready |= sys.In
		o.dst.await(t, sys.Out)
	}
	if s != SrcReset {
		t.Errorf("Pump says %d, want SrcReset", s)
	}
	sys.ShutdownWrite(int(o.dst.FD)) // behind the last byte that was passed on
	all := <-got
	if !bytes.Equal(all, b[:len(all)]) {
		t.Error("other bytes arrived than were sent")
	}
	if uint64(len(all)) != o.f.Bytes {
		t.Errorf("%d bytes arrived, %d counted", len(all), o.f.Bytes)
	}
	o.empty()
}

func TestDestinationGone(t *testing.T) {
	for name, full := range map[string]uint8{"copy": 0, "splice": spliceAfter} {
		t.Run(name, func(t *testing.T) {
			o := newOne(t, sizes{})
			o.f.full = full
			o.dst.reset()
			o.dst.await(t, sys.Err)
			o.send([]byte("too late"))
			o.src.await(t, sys.In)
			o.want(DstGone)
			o.w.Drop(&o.f)
			o.empty()
		})
	}
}

// What was preloaded goes out before all that is read, even if there is no
// room for it at first.
func TestPreload(t *testing.T) {
	o := newOne(t, sizes{})
	o.w.Preload(&o.f, []byte("PROXY header "))
	o.send([]byte("and bytes"))
	o.src.await(t, sys.In)
	o.want(Stuck)
	if o.f.Bytes != 0 {
		t.Errorf("%d bytes went out without room", o.f.Bytes)
	}
	o.dst.await(t, sys.Out)
	o.want(Stuck)
	o.wantFar([]byte("PROXY header and bytes"))
	if o.f.Bytes != uint64(len("and bytes")) {
		t.Errorf("%d bytes counted, want those of the source", o.f.Bytes)
	}
	o.empty()
}

// A flow's turn is about 1 MiB, however much there is.
func TestTurnEnds(t *testing.T) {
	o := newOne(t, sizes{nearIn: 4 << 20, nearOut: 4 << 20, farIn: 4 << 20, farOut: 4 << 20})
	var more int
	const total = 16 << 20
	go io.Copy(io.Discard, o.dst.far)
	go o.src.far.Write(make([]byte, total))
	for o.f.Bytes < total {
		o.src.await(t, sys.In)
		o.dst.await(t, sys.Out)
		before := o.f.Bytes
		s := o.pump()
		moved := o.f.Bytes - before
		if moved > turnBytes+pipeSize {
			t.Errorf("%d bytes in one turn", moved)
		}
		if s == More {
			more++
			if moved < turnBytes {
				t.Errorf("a turn ended after %d bytes", moved)
			}
		}
	}
	t.Logf("%d of %d turns ended for their length", more, total/turnBytes)
}
