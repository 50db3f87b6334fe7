package relay

import (
	"io"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

const patience = 20 * time.Second

// socket is one near end, which flows use, and its peer far away.
type socket struct {
	Side
	far *net.TCPConn
}

// sizes are buffer sizes in the kernel's meaning; 0 leaves them alone.
type sizes struct{ nearIn, nearOut, farIn, farOut int }

// open connects a socket, closed at the test's end.
func open(t testing.TB, z sizes) *socket {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	withFD(t, ln.(*net.TCPListener), func(fd int) { setSizes(t, fd, z.farIn, z.farOut) })
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	setSizes(t, fd, z.nearIn, z.nearOut)
	to := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: ln.Addr().(*net.TCPAddr).Port}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	unix.SetNonblock(fd, true)
	sys.NoDelay(fd)
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	s := &socket{Side{FD: int32(fd)}, c.(*net.TCPConn)}
	t.Cleanup(func() { c.Close(); unix.Close(fd) })
	return s
}

func setSizes(t testing.TB, fd, in, out int) {
	t.Helper()
	for option, size := range map[int]int{unix.SO_RCVBUF: in, unix.SO_SNDBUF: out} {
		if size != 0 {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, size); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func withFD(t testing.TB, c syscall.Conn, do func(fd int)) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// events adds what is ready, as a poller would have by now.
func (s *socket) events() {
	p := []unix.PollFd{{Fd: s.FD, Events: unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP}}
	unix.Poll(p, 0)
	for bit, r := range map[int16]sys.Ready{
		unix.POLLIN: sys.In, unix.POLLOUT: sys.Out,
		unix.POLLRDHUP: sys.In | sys.Fin, unix.POLLERR: sys.In | sys.Out | sys.Err, unix.POLLHUP: sys.In | sys.Out | sys.Err,
	} {
		if p[0].Revents&bit != 0 {
			s.Ready |= r
		}
	}
}

// await waits until all of want is ready.
func (s *socket) await(t testing.TB, want sys.Ready) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Microsecond) {
		if s.events(); s.Ready&want == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("ready for %05b, want %05b", s.Ready, want)
		}
	}
}

// unread returns how many bytes wait in the near end's kernel.
func (s *socket) unread(t testing.TB) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(s.FD), unix.SIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// awaitUnread waits until at least n bytes are there to read.
func (s *socket) awaitUnread(t testing.TB, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); s.unread(t) < n; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes to read, want %d", s.unread(t), n)
		}
	}
	s.await(t, sys.In)
}

// resetBy makes the far end reset the connection.
func (s *socket) reset() {
	s.far.SetLinger(0)
	s.far.Close()
}

// one is a worker and one flow between two sockets.
type one struct {
	t        testing.TB
	w        *Worker
	f        Flow
	src, dst *socket
}

func newOne(t testing.TB, z sizes) *one {
	t.Helper()
	o := &one{t: t, w: NewWorker(4), src: open(t, z), dst: open(t, z)}
	t.Cleanup(o.w.Close)
	return o
}

func (o *one) pump() Status { return o.w.Pump(&o.f, &o.src.Side, &o.dst.Side, false) }

func (o *one) want(s Status) {
	o.t.Helper()
	if got := o.pump(); got != s {
		o.t.Fatalf("Pump says %d, want %d", got, s)
	}
}

// empty checks that the flow holds nothing any more.
func (o *one) empty() {
	o.t.Helper()
	if o.f.held != 0 || o.f.pipe != 0 || o.f.buf != 0 {
		o.t.Errorf("the flow holds %d bytes, pipe %d, buffer %d", o.f.held, o.f.pipe, o.f.buf)
	}
	if len(o.w.idlePipes) != len(o.w.pipes) {
		o.t.Errorf("%d of %d pipes are idle", len(o.w.idlePipes), len(o.w.pipes))
	}
}

// some returns n bytes that no shift of them equals.
func some(seed uint64, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// wantFar checks that the next bytes at a far end are the given ones.
func (o *one) wantFar(want []byte) {
	o.t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(o.dst.far, got); err != nil || string(got) != string(want) {
		o.t.Fatalf("%d bytes arrived, %v; want %d, the same ones", n, err, len(want))
	}
}

func (o *one) wantFarEOF() {
	o.t.Helper()
	if n, err := o.dst.far.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		o.t.Fatalf("%d bytes, %v; want EOF", n, err)
	}
}

func (o *one) send(b []byte) {
	o.t.Helper()
	if _, err := o.src.far.Write(b); err != nil {
		o.t.Fatal(err)
	}
}
