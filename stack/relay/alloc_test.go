package relay

import (
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Moving bytes allocates nothing, in none of the three ways.
func TestPumpAllocatesNothing(t *testing.T) {
	for name, full := range map[string]uint8{"copy": 0, "splice": spliceAfter} {
		o := newOne(t, sizes{nearIn: 1 << 20})
		o.dst.await(t, sys.Out)
		peer := make([]byte, 100)
		into := fdOf(t, o.src)
		from := fdOf(t, o.dst)
		round := func() {
			o.f.full = full
			unix.Write(into, peer)
			for o.src.unread(t) < len(peer) {
			}
			o.src.Ready |= sys.In
			o.pump()
			for got := 0; got < len(peer); {
				if n, _ := unix.Read(from, peer); n > 0 {
					got += n
				}
			}
		}
		round()
		if n := testing.AllocsPerRun(1000, round); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	w := NewWorker(0)
	var f Flow
	b := make([]byte, 1000)
	if n := testing.AllocsPerRun(1000, func() { w.Preload(&f, b); w.Drop(&f) }); n >= 1 {
		t.Errorf("held bytes: %v allocations", n)
	}
}

func fdOf(t testing.TB, s *socket) (fd int) {
	withFD(t, s.far, func(n int) { fd = n })
	return fd
}

func benchmarkPump(b *testing.B, chunk int, most int) {
	w := NewWorker(most)
	defer w.Close()
	o := &one{t: b, w: w, src: open(b, sizes{}), dst: open(b, sizes{})}
	o.src.far.SetDeadline(noDeadline)
	o.dst.far.SetDeadline(noDeadline)
	go func() {
		buf := make([]byte, chunk)
		for {
			if _, err := o.src.far.Write(buf); err != nil {
				return
			}
		}
	}()
	go io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{o.dst.far}, make([]byte, 256<<10))
	b.SetBytes(int64(chunk))
	b.ReportAllocs()
	p := []unix.PollFd{{Fd: o.src.FD, Events: unix.POLLIN}, {Fd: o.dst.FD, Events: unix.POLLOUT}}
	for want := uint64(0); b.Loop(); {
		for want += uint64(chunk); o.f.Bytes < want; {
			if o.pump() == Stuck {
				if o.src.Ready&sys.In == 0 {
					unix.Poll(p[:1], -1)
					o.src.Ready |= sys.In
				}
				if o.dst.Ready&sys.Out == 0 {
					unix.Poll(p[1:], -1)
					o.dst.Ready |= sys.Out
				}
			}
		}
	}
}

func BenchmarkCopy(b *testing.B)   { benchmarkPump(b, 64<<10, 0) }
func BenchmarkSplice(b *testing.B) { benchmarkPump(b, 64<<10, 1) }
