package tap

import (
	"testing"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// A SYN that is parked, repeated and refused allocates nothing, nor does one
// that is answered with a cookie.
func TestSYNAllocatesNothing(t *testing.T) {
	r := newRig(t)
	r.Change(web, Virtual{Proof: ProofOff, Share: 50})
	c := r.client(1)
	b := c.segment(frame.SYN, "")
	quiet := &silent{port: r.Port}
	r.Port.owner = quiet
	r.Port.queue = sinkhole{r.Port.queue}
	syn := func() {
		head, _ := r.Port.net.Room()
		n := copy(head, b)
		r.Port.take(&segment{b: head[:n], n: n, h: &r.Port.vnet}, r.now)
	}
	if n := testing.AllocsPerRun(100, func() {
		syn()
		syn()
		quiet.port.Refuse(quiet.record)
	}); n != 0 {
		t.Errorf("%v allocations for parking", n)
	}
	r.Change(web, Virtual{Proof: ProofAlways})
	if n := testing.AllocsPerRun(100, syn); n != 0 {
		t.Errorf("%v allocations for a cookie", n)
	}
	r.Port.owner = r.owner
}

// silent is an owner that parks everybody and keeps no books.
type silent struct {
	owner
	port   *Port
	record uint32
}

func (s *silent) Arrived(i uint32, _ int64) {
	s.record = i
	s.port.Park(i)
}

// sinkhole is a queue that takes frames and forgets them.
type sinkhole struct{ Queue }

func (sinkhole) WriteFrame([]byte) (e sys.Errno)  { return 0 }
func (sinkhole) Send(_ *device.VNet, _, _ []byte) {}

// BenchmarkSYN is what a new handshake costs, but for reading it: checksum,
// record, owner; and its end by a reset.
func BenchmarkSYN(b *testing.B) {
	r := newRig(b, handshakes(1<<20))
	quiet := &silent{port: r.Port}
	r.Port.owner = quiet
	r.Port.queue = sinkhole{r.Port.queue}
	c := r.client(1)
	var frames [1024][]byte
	for i := range frames {
		c.f.SrcPort = uint16(i)
		frames[i] = c.segment(frame.SYN, "")
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f := frames[i%len(frames)]
		i++
		head, _ := r.Port.net.Room()
		n := copy(head, f)
		r.Port.take(&segment{b: head[:n], n: n, h: &r.Port.vnet}, r.now)
		quiet.port.Refuse(quiet.record)
	}
	r.Port.owner = r.owner
}
