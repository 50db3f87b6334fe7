package term

import (
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// What is sent from buffers that were somebody's before is the socket's bytes, and
// no others, in whatever sizes; and no more than there is room for.
func TestFillFromUsedBuffers(t *testing.T) {
	r := newRig(t, Config{Knobs: Knobs{Send: Range{First: 300_000, Most: 300_000}}})
	f := r.client(1)
	conn := f.handshake()
	fd, peer := socketPair(t)
	defer sys.Close(fd)
	for i, size := range []int{300_000, fillLeast, 64 << 10, 64<<10 + 1, 100_000, fillLeast - 1, 299_999, fillLeast, 350_000} {
		want := noise(size, uint64(i))
		go peer.Write(want)
		var got []byte
		for len(got) < size {
			until(t, "some is there", func() bool { return sys.Queued(fd) >= min(fillLeast-1, size-len(got)) })
			n, e := r.WriteFrom(conn, fd, sys.Queued(fd))
			if e != 0 || n == 0 || n > 300_000 {
				t.Fatalf("%d bytes: took %d, %v", size, n, e)
			}
			for end := len(got) + n; len(got) < end; {
				_, b := f.want(frame.ACK)
				got = append(got, b...)
				f.send(frame.ACK)
			}
		}
		same(t, "sent", got, want)
	}
}

// Where there is no room nothing is taken, and behind the end it is an error.
func TestFillNotNow(t *testing.T) {
	r := newRig(t, Config{Knobs: Knobs{Send: Range{First: fillLeast, Most: fillLeast}}})
	conn := r.client(1).handshake()
	fd, peer := socketPair(t)
	defer sys.Close(fd)
	peer.Write(noise(3*fillLeast, 1))
	until(t, "all is there", func() bool { return sys.Queued(fd) == 3*fillLeast })
	for i, want := range []struct {
		n int
		e sys.Errno
	}{{fillLeast, 0}, {0, unix.EAGAIN}} {
		if n, e := r.WriteFrom(conn, fd, 2*fillLeast); n != want.n || e != want.e {
			t.Errorf("%d: took %d, %v, want %+v", i, n, e, want)
		}
	}
	r.ShutdownWrite(conn)
	if n, e := r.WriteFrom(conn, fd, 2*fillLeast); n != 0 || e != unix.EPIPE {
		t.Errorf("took %d, %v behind the end", n, e)
	}
	if n := sys.Queued(fd); n != 2*fillLeast {
		t.Errorf("%d bytes left in the socket, want %d", n, 2*fillLeast)
	}
}
