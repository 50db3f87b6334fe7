package relay

import (
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// A sender's small pieces wait for nobody: Nagle's algorithm is off before the
// second one, in whatever turn it comes.
func TestNagleIsOffBeforeTheSecondPiece(t *testing.T) {
	o := newOne(t, sizes{nearIn: 1 << 20})
	sys.SetInt(int(o.dst.FD), unix.IPPROTO_TCP, unix.TCP_NODELAY, 0)
	o.dst.Nagle = true
	o.dst.await(t, sys.Out)
	noDelay := func() int {
		v, err := unix.GetsockoptInt(int(o.dst.FD), unix.IPPROTO_TCP, unix.TCP_NODELAY)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	o.send([]byte("first"))
	o.src.await(t, sys.In)
	o.want(Stuck)
	if noDelay() != 0 {
		t.Error("a call that a short connection does not need")
	}
	o.f, o.dst.Nagle = Flow{}, true
	b := some(5, copyBuffer+100)
	o.send(b)
	o.src.awaitUnread(t, len(b))
	o.want(Stuck)
	if noDelay() != 1 {
		t.Error("the rest of a turn's bytes may be held back")
	}
}
