package device

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// ringed skips a test where the kernel has no io_uring for us.
func ringed(t testing.TB) {
	t.Helper()
	r, e := sys.OpenRing(1, 1)
	if e != 0 {
		t.Skip("io_uring: ", e)
	}
	r.Close()
}

// payloads of frames: small ones in numbers that are more than one Flush takes,
// some too large to be held, and some of the largest that is held.
func payloads() (all [][]byte) {
	for i := range 3*holdMost + 5 {
		n := i % 100
		switch {
		case i%17 == 5:
			n = 1400
		case i%29 == 7:
			n = 9000
		case i == 40 || i == 41:
			n = holdBytes - sizeofVNet - dataAt + i - 40
		}
		all = append(all, pattern(n))
	}
	return all
}

// send sends frames with such payloads, in one piece or more, and returns them.
func send(d *Device, payloads [][]byte) (sent [][]byte) {
	for i, p := range payloads {
		b := segment(d, true, uint16(1+i), p)
		h := VNet{}
		if i%2 == 1 {
			h = v4.undone(b, 0)
		}
		cut := len(b)
		if i%3 == 0 {
			cut = min(len(b), dataAt+i)
		}
		if i%4 == 3 {
			d.Queue(0).SendParts(&h, [][]byte{b[:14], b[14:14], b[14:cut], b[cut:]})
		} else {
			d.Queue(0).Send(&h, b[:cut], b[cut:])
		}
		sent = append(sent, b)
	}
	return sent
}

// arrive fails the test unless these frames arrive, in this order.
func arrive(t *testing.T, w *wire, sent [][]byte) {
	t.Helper()
	for i, want := range sent {
		if h, b := w.receive(); !bytes.Equal(b, want) || (h.Flags == NeedsCsum) != (i%2 == 1) {
			t.Fatalf("frame %d: %+v, %d bytes; sent were %d", i, h, len(b), len(want))
		}
	}
}

func sizes(sent [][]byte) (c Counts) {
	for _, b := range sent {
		c.OutFrames++
		c.OutBytes += uint64(len(b))
	}
	return c
}

// breakRing has the queue's ring fail from now on.
func breakRing(t *testing.T, q *Queue) {
	t.Helper()
	q.Send(&VNet{}, make([]byte, 60), nil) // makes it
	q.Flush()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); to == "anon_inode:[io_uring]" {
			fd, _ := strconv.Atoi(f.Name())
			if err := unix.Dup2(int(null.Fd()), fd); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Whatever way frames go, they arrive whole, in order, and are counted.
func TestSendKeepsOrder(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *Queue){
		"held":       func(*testing.T, *Queue) {},
		"no ring":    func(_ *testing.T, q *Queue) { q.held.plain = true },
		"ring fails": breakRing,
	} {
		t.Run(name, func(t *testing.T) {
			ringed(t)
			network(t)
			d := open(t, Config{})
			q := d.Queue(0)
			prepare(t, q)
			w, before := host(t, d.Name()), q.Counts()
			if err := unix.SetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20); err != nil {
				t.Fatal(err)
			}
			sent := send(d, payloads())
			q.Flush()
			q.Flush()
			arrive(t, w, sent)
			want := before
			for _, b := range sent {
				want.OutFrames++
				want.OutBytes += uint64(len(b))
			}
			if c := q.Counts(); c != want {
				t.Errorf("%+v, want %+v", c, want)
			}
			if got, want := q.held.ring != nil, name == "held"; got != want {
				t.Errorf("there is a ring: %v", got)
			}
		})
	}
}

// The frame that was held back last can be changed until it leaves.
func TestLast(t *testing.T) {
	ringed(t)
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, d.Name())
	none := func(when string) {
		t.Helper()
		if h, b := q.Last(); h != nil || b != nil || q.Held() {
			t.Errorf("%s: %+v, %d bytes, held: %v", when, h, len(b), q.Held())
		}
	}
	none("at first")
	sent := send(d, [][]byte{pattern(10), pattern(20)})
	h, b := q.Last()
	if h == nil || h.Flags != NeedsCsum || !bytes.Equal(b, sent[1]) || !q.Held() {
		t.Fatalf("%+v, %d bytes, held: %v", h, len(b), q.Held())
	}
	b[len(b)-1]++
	sent[1][len(b)-1]++
	q.Flush()
	none("behind Flush")
	arrive(t, w, sent)
	arrive(t, w, send(d, [][]byte{pattern(9000)}))
	none("behind a large one")
}

// Small frames wait for Flush, a large one takes them along.
func TestSendHolds(t *testing.T) {
	ringed(t)
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	small, large := payloads()[:5], [][]byte{pattern(9000)}
	sent := send(d, small)
	if n, err := unix.Read(w.fd, make([]byte, 100)); err != unix.EAGAIN || q.Counts().OutFrames != 0 {
		t.Errorf("%d, %v before Flush; %+v", n, err, q.Counts())
	}
	q.Flush()
	arrive(t, w, sent)
	sent = append(send(d, small[:4]), send(d, large)...)
	arrive(t, w, sent)
}

// A frame that the kernel does not take is counted and harms no other.
func TestSendCountsDrops(t *testing.T) {
	ringed(t)
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	sent := send(d, payloads()[:3])
	q.Send(&VNet{}, make([]byte, 13), nil)
	q.Send(&VNet{GSO: 77}, segment(d, true, 1, nil), nil)
	sent = append(sent, segment(d, true, 1, nil))
	h := v4.undone(sent[3], 0)
	q.Send(&h, sent[3], nil)
	q.Flush()
	arrive(t, w, sent)
	if c := q.Counts(); c.OutFrames != 4 || c.DroppedInvalid != 2 {
		t.Errorf("%+v", c)
	}
	q.Send(&VNet{}, make([]byte, 13), nil) // alone
	q.Flush()
	if c := q.Counts(); c.OutFrames != 4 || c.DroppedInvalid != 3 {
		t.Errorf("%+v", c)
	}
}

// What is held when the device is set down or goes is lost and counted; when it
// is back the same ring serves it.
func TestSendThroughDownAndGone(t *testing.T) {
	ringed(t)
	network(t)
	d := open(t, Config{})
	q, three := d.Queue(0), payloads()[:3]
	var c clock
	for range 2 {
		send(d, three)
		ip(t, "link set "+name+" down")
		q.Flush()
		send(d, three[:1])
		q.Flush()
		ip(t, "link set "+name+" up")
		send(d, three)
		ip(t, "link del "+name)
		q.Flush()
		send(d, three[:1])
		q.Flush()
		expect(t, q, c.second(), Gone, true)
		expect(t, q, c.second(), Up, true)
		w := host(t, name)
		sent := send(d, three)
		q.Flush()
		arrive(t, w, sent)
	}
	if n := q.Counts(); n.OutFrames != 6 || n.DroppedDown != 8 || n.DroppedGone != 8 || q.held.ring == nil {
		t.Errorf("%+v", n)
	}
}

func TestSendAllocatesNothing(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q := d.Queue(0)
	b := segment(d, true, 1, pattern(100))
	if n := testing.AllocsPerRun(100, func() {
		var h VNet
		for range 5 {
			q.Send(&h, b[:20], b[20:])
		}
		q.Flush()
		q.Send(&h, b, nil)
		q.Flush()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkSend is what a frame of a turn costs that sends so many, if nobody
// wants it.
func BenchmarkSend(b *testing.B) {
	for _, n := range []int{1, 4, 16, 64} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			network(b)
			q := open(b, Config{}).Queue(0)
			f := segment(q.dev, true, 1, pattern(100))
			var h VNet
			for i := 0; b.Loop(); i++ {
				q.Send(&h, f, nil)
				if i%n == 0 {
					q.Flush()
				}
			}
		})
	}
}
