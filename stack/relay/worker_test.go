package relay

import (
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/leak"
	"penstock/stack/sys"
)

var noDeadline time.Time

// stuck returns flows of one worker, each with bytes held in splice mode, or
// in a buffer if there is no pipe for it.
func stuck(t testing.TB, w *Worker, n int) []*one {
	t.Helper()
	var all []*one
	for i := range n {
		z := sizes{nearIn: 1 << 20, nearOut: 8 << 10, farIn: 8 << 10}
		o := &one{t: t, w: w, src: open(t, z), dst: open(t, z)}
		o.f.full = spliceAfter
		go o.src.far.Write(some(uint64(i), 400_000))
		for o.f.held == 0 {
			o.src.await(t, sys.In)
			o.dst.await(t, sys.Out)
			o.want(Stuck)
		}
		all = append(all, o)
	}
	return all
}

// Pipes are bounded; who finds none copies.
func TestPipesAreBounded(t *testing.T) {
	w := NewWorker(2)
	defer w.Close()
	all := stuck(t, w, 5)
	pipes, buffers := 0, 0
	for _, o := range all {
		if o.f.pipe != 0 {
			pipes++
		}
		if o.f.buf != 0 {
			buffers++
		}
	}
	if pipes != 2 || buffers != 3 || w.Pipes() != 2 {
		t.Errorf("%d flows in pipes, %d in buffers, %d pipes; want 2, 3 and 2", pipes, buffers, w.Pipes())
	}
	for _, o := range all {
		w.Drop(&o.f)
	}
}

// C51: a pipe is borrowed only while bytes are in it.
func TestC51IdlePairsHoldNoPipe(t *testing.T) {
	w := NewWorker(4)
	defer w.Close()
	const pairs, each = 50, 1 << 20
	for range pairs {
		o := &one{t: t, w: w, src: open(t, sizes{}), dst: open(t, sizes{})}
		done := make(chan error, 1)
		go o.src.far.Write(make([]byte, each))
		go func() { _, err := io.CopyN(io.Discard, o.dst.far, each); done <- err }()
		for o.f.Bytes < each {
			o.src.await(t, sys.In)
			o.dst.await(t, sys.Out)
			o.pump()
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		o.empty()
	}
	if w.Pipes() != 1 {
		t.Errorf("%d pipes for one pair at a time", w.Pipes())
	}
}

// A pipe that is dropped with bytes in it is replaced: they must not turn up
// in another's stream.
func TestDropWithBytesInPipe(t *testing.T) {
	w := NewWorker(1)
	defer w.Close()
	before := leak.Descriptors()
	o := stuck(t, w, 1)[0]
	w.Drop(&o.f)
	o.empty()
	after := leak.Descriptors()
	if opened := after - before; opened != 2+4 { // the pipe, and two sockets with two ends
		t.Errorf("%d descriptors more than before", opened)
	}
	next := newOne(t, sizes{nearIn: 1 << 20})
	next.w = w
	next.f.full = spliceAfter
	b := some(9, 50_000)
	next.send(b)
	next.src.awaitUnread(t, len(b))
	next.dst.await(t, sys.Out)
	next.want(Stuck)
	next.wantFar(b)
	if w.Pipes() != 1 {
		t.Errorf("%d pipes", w.Pipes())
	}
}

// Without a descriptor for the replacement there is a pipe less, and the flow
// after goes on copying.
func TestNoDescriptorForPipe(t *testing.T) {
	w := NewWorker(1)
	defer w.Close()
	o := stuck(t, w, 1)[0]
	next := newOne(t, sizes{nearIn: 1 << 20})
	next.w = w
	next.f.full = spliceAfter
	withoutDescriptors(t, func() { w.Drop(&o.f) })
	b := some(9, 50_000)
	next.send(b)
	next.src.awaitUnread(t, len(b))
	next.dst.await(t, sys.Out)
	next.want(Stuck)
	next.wantFar(b)
	if next.f.held != 0 || next.f.pipe != 0 {
		t.Errorf("held %d in pipe %d", next.f.held, next.f.pipe)
	}
}

// withoutDescriptors runs f while the process can't open any.
func withoutDescriptors(t testing.TB, f func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(os.DevNull); err == nil {
		f.Close()
		t.Fatal("the limit does not hold")
	}
	f()
}

func TestBuffersAreGivenBack(t *testing.T) {
	w := NewWorker(0)
	defer w.Close()
	for range 3 {
		for _, o := range stuck(t, w, 2) {
			w.Drop(&o.f)
			if o.f.buf != 0 || o.f.held != 0 {
				t.Errorf("%d bytes in buffer %d", o.f.held, o.f.buf)
			}
		}
	}
	if len(w.buffers) > 2 || len(w.idleBuffers) != len(w.buffers) {
		t.Errorf("%d buffers, %d idle", len(w.buffers), len(w.idleBuffers))
	}
}
