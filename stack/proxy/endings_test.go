package proxy

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
	"time"

	"penstock/stack/kernel"
	"penstock/stack/sys"
)

// A session whose turn was over, and whose server broke off before its next
// one, is not driven any more while its last bytes go out.
func TestResetBetweenTurns(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 0))
	client := r.dial()
	up := s.next(t)
	pass(t, client, up)
	const size = 300 << 10 // more than a client takes that does not read
	up.Write(make([]byte, size))
	until(t, func() bool { return unacked(t, up) == 0 }, "all of it at the proxy")
	r.isolated(func(int64) {
		w := r.workers[0]
		for i := uint32(1); i < w.clients.Cap(); i++ {
			c := w.clients.At(i)
			if c.state != relaying {
				continue
			}
			w.queueMore(c, w.pairs.At(c.pair))
			reset(up)
			r.untilBroken(1)
			w.Ready(serverRef(i), sys.In|sys.Out|sys.Fin|sys.Err, kernel.Clock())
			if c.state != flushing {
				t.Errorf("state %d, want flushing", c.state)
			}
		}
	})
	if n, err := io.Copy(io.Discard, client); n != size || !isReset(err) {
		t.Errorf("%d bytes, then %v; want %d and a reset", n, err, size)
	}
	r.wantEnd(ServerReset)
}

// An urgent byte in a stream that is spliced neither holds up nor cuts off
// what comes behind it.
func TestUrgentInBulk(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	for _, fin := range []bool{true, false} {
		client := r.dial()
		up := s.next(t)
		pass(t, client, up)
		front, back := bytes.Repeat([]byte("a"), 400_000), bytes.Repeat([]byte("b"), 100_000)
		go func() {
			client.Write(front)
			urgent(t, client)
			client.Write(back)
			if fin {
				client.CloseWrite()
			}
		}()
		got := make([]byte, len(front)+len(back))
		up.SetReadDeadline(time.Now().Add(patience))
		n, err := io.ReadFull(up, got)
		if err != nil || sha256.Sum256(got) != sha256.Sum256(append(front, back...)) {
			t.Errorf("fin %v: %d bytes, %v", fin, n, err)
		}
		reset(client)
		reset(up)
	}
}

// Who is cut in the middle of an upload is cut on both sides: a FIN would tell
// the server that it has all.
func TestCutIsNoCleanEnd(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	client := r.dial()
	up := s.next(t)
	pass(t, client, up)
	write(t, client, "half of an upload")
	wantBytes(t, up, "half of an upload")
	r.Drain()
	r.Cut()
	wantReset(t, client, "")
	wantReset(t, up, "")
	r.wantEnd(Drained)
}

// A parked client that is cut was not served.
func TestCutWhileParked(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	r.dial()
	s.next(t)
	r.park()
	r.Drain()
	r.Cut()
	for range 2 {
		if e := r.end(); e.Position > 0 && e.Left != "cut" {
			t.Errorf("%+v", e)
		}
	}
}

// Two proxies on one address would be two limits and two queues.
func TestSecondOnOneAddress(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	second := base()
	member(s.addr(), 0)(&second)
	second.Virtuals[0].Listen = r.Listening(0)
	if p, err := New(second); err == nil {
		p.Close()
		t.Error("a second proxy listens on the address of the first")
	}
}
