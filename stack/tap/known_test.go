package tap

import (
	"testing"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A client that has forgotten its connection begins anew from the same port. Nothing
// waits for a slot that its own ghost may have: it is asked, says so, and is in with
// its next SYN. A stranger that only says that it is the client changes nothing.
func TestSYNOfConnection(t *testing.T) {
	for _, six := range []bool{false, true} {
		r := newRig(t)
		c := r.client(1)
		if six {
			r.listen(web6, Virtual{Listen: at6})
			c = r.client6(1)
		}
		r.released(c)
		conn := c.connect()
		r.want("connected")
		next := c.seq
		for _, by := range []uint32{1 << 20, 5} {
			r.netTime += time.Second // so often it answers
			c.after(time.Second).sendAt(next+by, 0, frame.SYN)
			r.want()
			if p, _ := c.next(); p.Flags != frame.ACK || p.Ack != next || p.Seq != c.ack {
				t.Fatalf("%+v is no challenge", p)
			}
		}
		if r.ready[conn]&sys.Err != 0 {
			t.Error("a SYN ended the connection")
		}
		c.rst(next)
		r.until("reset", func() bool { return r.ready[conn]&sys.Err != 0 })
		r.hangup(conn, false, r.now)
		c.seq = next + 1<<20
		c.syn()
		r.want("arrived")
		r.release(r.only(), r.now)
		c.connect()
		r.want("connected")
	}
}
