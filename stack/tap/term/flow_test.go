package term

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A client that sends more than anybody reads is held back, and what it sent is
// all there in the end.
func TestSlowReader(t *testing.T) {
	const most = 1 << 20
	shut := make(chan struct{})
	tell := sync.OnceFunc(func() { close(shut) })
	p := newPair(t, setup{knobs: Knobs{Receive: Range{First: 64 << 10, Most: most}}, lose: func(x packet) bool {
		var s frame.Packet
		if s.Parse(x.b, clientMAC) == frame.TCP && s.Flags == frame.ACK && s.Window == 0 {
			tell()
		}
		return false
	}})
	p.listen(server4)
	accepted, _ := p.accepts()
	c := p.mustDial(server4)
	conn := await(t, accepted).Conn
	want := noise(16<<20, 1)
	go func() {
		c.Write(want)
		c.CloseWrite()
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var ready atomic.Int64
	p.server.do(func() {
		p.server.event = func(Event) { ready.Add(1) }
	})
	select {
	case <-shut: // the client has sent all it may
	case <-time.After(patience):
		t.Fatal("the window is not shut")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	// The client's own buffer holds 4 MiB at most, too.
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 4<<20+2*most {
		t.Errorf("%d bytes are held", more)
	}
	var got []byte
	b := make([]byte, 100<<10)
	until(t, "all is read", func() bool {
		end := false
		p.server.do(func() {
			for {
				n, e := p.server.Recv(conn, b)
				got = append(got, b[:n]...)
				end = n == 0 && e == 0
				if n == 0 {
					return
				}
			}
		})
		return end
	})
	same(t, "read slowly", got, want)
	if ready.Load() == 0 {
		t.Error("no event")
	}
}

// Writing stops when the client reads nothing, and an event says when there is
// room again.
func TestSlowClient(t *testing.T) {
	p := newPair(t, setup{knobs: Knobs{Send: Range{First: 64 << 10, Most: 256 << 10}}})
	p.listen(server4)
	accepted, _ := p.accepts()
	c := p.mustDial(server4)
	conn := await(t, accepted).Conn
	want := noise(size(16<<20), 1)
	sent := 0
	send := func() {
		for sent < len(want) {
			n, e := p.server.Send(conn, want[sent:])
			sent += n
			if e == unix.EAGAIN {
				return
			}
			if e != 0 {
				t.Errorf("sent: %v", e)
				sent = len(want)
			}
		}
		p.server.ShutdownWrite(conn)
		p.server.Close(conn)
	}
	p.server.do(func() {
		p.server.event = func(e Event) {
			if e.Kind == Ready && e.Ready&sys.Out != 0 && sent < len(want) {
				send()
			}
		}
		send()
	})
	before := -1
	until(t, "all windows are full", func() (same bool) {
		time.Sleep(50 * time.Millisecond)
		p.server.do(func() { before, same = sent, before == sent })
		return same
	})
	if before > 5<<20 { // the server's buffer and the client's window
		t.Errorf("%d bytes taken that nobody reads", before)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	same(t, "read slowly", got, want)
}

// A kernel socket that takes little at a time loses no byte, and gets none twice.
func TestTinySocket(t *testing.T) {
	p := newPair(t, setup{})
	p.listen(server4)
	accepted, _ := p.accepts()
	c := p.mustDial(server4)
	conn := await(t, accepted).Conn
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd, other := fds[0], fds[1]
	defer sys.Close(fd)
	defer sys.Close(other)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1)
	want := noise(1<<20, 1)
	go func() {
		c.Write(want)
		c.CloseWrite()
	}()
	var got []byte
	b := make([]byte, 3333)
	passed, refused := 0, 0
	until(t, "all is passed on", func() (end bool) {
		p.server.do(func() {
			n, own, to := p.server.ReadTo(conn, fd, 50000)
			passed += n
			if to == unix.EAGAIN {
				refused++
			} else if to != 0 || own != 0 && own != unix.EAGAIN || n > 50000 {
				t.Errorf("ReadTo: %d, %v, %v", n, own, to)
			}
			end = n == 0 && own == 0 && to == 0
		})
		for {
			n, e := sys.Recv(other, b)
			if got = append(got, b[:n]...); e != 0 {
				return
			}
		}
	})
	same(t, "passed on", got, want)
	if passed != len(want) {
		t.Errorf("%d bytes said to be passed on of %d", passed, len(want))
	}
	if refused < 10 {
		t.Errorf("the socket refused %d times, which tests nothing", refused)
	}
}

// ReadTo tells a socket that broke from a connection that did, and keeps what the
// socket did not take.
func TestReadToBroken(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.send(frame.ACK, []byte("data")...)
	f.want(frame.ACK)
	fds, _ := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	defer sys.Close(fds[0])
	sys.Close(fds[1])
	if n, own, to := r.ReadTo(conn, fds[0], 100); n != 0 || own != 0 || to != unix.EPIPE {
		t.Errorf("ReadTo: %d, %v, %v", n, own, to)
	}
	b := make([]byte, 10)
	if n, e := r.Recv(conn, b); string(b[:n]) != "data" || e != 0 {
		t.Errorf("received %q, %v", b[:n], e)
	}
	if n, own, to := r.ReadTo(conn, fds[0], 100); n != 0 || own != unix.EAGAIN || to != 0 {
		t.Errorf("ReadTo: %d, %v, %v", n, own, to)
	}
}

// WriteFrom takes no more from the socket than there is room for.
func TestWriteFromLeavesTheRest(t *testing.T) {
	r := newRig(t, Config{Knobs: Knobs{Send: Range{First: 4096, Most: 4096}}})
	f := r.client(1)
	conn := f.handshake()
	fd, peer := socketPair(t)
	defer sys.Close(fd)
	want := noise(10000, 1)
	peer.Write(want)
	until(t, "all is there", func() bool { return sys.Queued(fd) == len(want) })
	var got []byte
	for left := len(want); left > 0; {
		if n := sys.Queued(fd); n != left {
			t.Fatalf("%d bytes in the socket, want %d", n, left)
		}
		n, e := r.WriteFrom(conn, fd, left)
		if e != 0 || n != min(4096, left) {
			t.Fatalf("took %d of %d, %v", n, left, e)
		}
		left -= n
		if n, e := r.WriteFrom(conn, fd, left); left > 0 && n == 0 && e != unix.EAGAIN {
			t.Errorf("took %d, %v without room", n, e)
		}
		for n > 0 {
			p, b := f.want(frame.ACK)
			got = append(got, b...)
			n -= int(p.Len())
		}
		f.send(frame.ACK)
		if left == 0 {
			break // it was not full: nobody waits for room
		}
		if list := r.events(); list[0].Ready&sys.Out == 0 {
			t.Errorf("events %+v", list)
		}
	}
	same(t, "sent", got, want)
}

// A socket that has less than was said breaks the connection off: part of the
// stream is lost. It does not hang, and what a buffer held before goes nowhere.
func TestWriteFromLie(t *testing.T) {
	for _, has := range []int{3, fillLeast} {
		r := newRig(t, Config{})
		f := r.client(1)
		conn := f.handshake()
		fd, peer := socketPair(t)
		defer sys.Close(fd)
		peer.Write(noise(has, 1))
		until(t, "all is there", func() bool { return sys.Queued(fd) == has })
		if n, e := r.WriteFrom(conn, fd, has+1); n != 0 || e != unix.ECONNABORTED {
			t.Errorf("%d bytes: took %d, %v", has, n, e)
		}
		if p, _ := r.next(); !p.Has(frame.RST) || p.Data != p.End {
			t.Errorf("%d bytes: %+v, want a reset", has, p)
		}
		if e := r.Error(conn); e != unix.ECONNABORTED {
			t.Errorf("%d bytes: error %v", has, e)
		}
		r.Close(conn)
		r.none("when closed")
	}
}

// Unacked turns false when the client has all, with FIN or without.
func TestUnacked(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	unacked := func(want bool, when string) {
		t.Helper()
		r.step()
		for range 2 {
			if got := r.Unacked(conn); got != want {
				t.Errorf("%s: unacked is %v", when, got)
			}
		}
	}
	unacked(false, "nothing sent")
	if n, e := r.Send(conn, []byte("data")); n != 1 || e != 0 {
		t.Errorf("sent %d, %v into a buffer of one byte", n, e)
	}
	unacked(true, "sent")
	f.want(frame.ACK)
	f.send(frame.ACK)
	unacked(false, "acknowledged")
	r.ShutdownWrite(conn)
	unacked(true, "FIN sent")
	f.want(frame.ACK | frame.FIN)
	f.send(frame.ACK)
	unacked(false, "FIN acknowledged")
	f.send(frame.RST)
	unacked(false, "reset")
	r.Close(conn)
}

// Reading and writing allocate nothing of ours.
func TestCallsAllocate(t *testing.T) {
	r := newRig(t, Config{})
	conn := r.client(1).handshake()
	b := make([]byte, 10)
	if n := testing.AllocsPerRun(100, func() {
		r.Recv(conn, b)
		r.Peek(conn, b)
		r.ReadTo(conn, -1, 10)
		r.Poll(conn)
		r.Unacked(conn)
		r.Error(conn)
		r.Peer(conn)
		r.Events(10, func(Event) {})
	}); n > 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}
