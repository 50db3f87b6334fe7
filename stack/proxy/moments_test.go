package proxy

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/kernel"
	"penstock/stack/sys"
)

// Moments that are hard to hit from outside are set up by hand here, on a
// proxy whose loop is held still.

// still is a proxy with one loop that runs only when the test lets it.
type still struct {
	*rig
	release chan struct{} // nil while the loop runs
}

func startStill(t *testing.T, options ...option) *still {
	s := &still{rig: start(t, append(options, loops(1))...)}
	t.Cleanup(s.run)
	return s
}

// hold stops the loop between two batches of events.
func (s *still) hold() {
	held := make(chan struct{})
	release := make(chan struct{})
	s.release = release
	s.workers[0].loop.Do(func() { close(held); <-release })
	<-held
}

// run lets it go on.
func (s *still) run() {
	if s.release != nil {
		close(s.release)
		s.release = nil
	}
}

// untilBroken waits, while the loop is held, until so many sockets of sessions
// have an error: resets may be on their way.
func (s *still) untilBroken(n int) {
	s.t.Helper()
	w := s.workers[0]
	until(s.t, func() bool {
		broken := 0
		for i := uint32(1); i < w.clients.Cap(); i++ {
			c := w.clients.At(i)
			if c.state == 0 {
				continue
			}
			fds := []int32{c.side.FD}
			if c.pair != 0 {
				fds = append(fds, w.pairs.At(c.pair).server.FD)
			}
			for _, fd := range fds {
				if fd >= 0 && sys.Poll(int(fd))&sys.Err != 0 {
					broken++
				}
			}
		}
		return broken == n
	}, "%d sockets broken", n)
}

// on runs f on the loop and waits for it.
func (s *still) on(f func(w *worker)) {
	done := make(chan struct{})
	w := s.workers[0]
	w.loop.Do(func() { f(w); close(done) })
	<-done
}

// age makes those that are there older: who is parked came so much earlier, and
// connections have been silent for so much longer. Their timers look at once.
func (r *rig) age(d time.Duration) {
	r.t.Helper()
	r.each(func(w *worker, i uint32, c *client) {
		switch c.state {
		case parked:
			c.accepted -= int64(d)
		case relaying:
			w.pairs.At(c.pair).active -= int64(d)
			w.loop.StartTimer(c.pair, 0)
		}
	})
}

// expire has the clocks of those that dial run out.
func (r *rig) expire() {
	r.t.Helper()
	r.each(func(w *worker, i uint32, c *client) {
		if c.state == dialling {
			w.loop.StartTimer(c.pair, 0)
		}
	})
}

// each calls f for each session, while the loops stand still.
func (r *rig) each(f func(w *worker, i uint32, c *client)) {
	r.t.Helper()
	r.isolated(func(int64) {
		for _, w := range r.workers {
			for i := uint32(1); i < w.clients.Cap(); i++ {
				if c := w.clients.At(i); c.state != 0 {
					f(w, i, c)
				}
			}
		}
	})
}

// Leaving loses against a grant: the record stays until the grant comes, and
// the slot goes on.
func TestLeaveAfterGrant(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 1))
	holder := r.dial()
	server := s.next(t)
	pass(t, holder, server)
	_, second := r.park(), r.park()
	r.on(func(w *worker) {
		now := kernel.Clock()
		for i := uint32(1); i < w.clients.Cap(); i++ {
			if c := w.clients.At(i); c.state == relaying {
				w.end(i, c, ClientReset, "client", now) // grants the head its slot
			}
		}
		for i := uint32(1); i < w.clients.Cap(); i++ {
			if c := w.clients.At(i); c.state == parked && c.position == 1 {
				w.left(i, c, now)
				if c.state != departed {
					t.Errorf("state %d, want departed", c.state)
				}
				break
			}
		}
	})
	pass(t, second, s.next(t))
	r.wantEnd(ClientReset)
	r.wantEnd(ClientQuit)
	server.Close()
	holder.Close()
}

// The first event of a parked client says only that something may have
// happened: it sent bytes and reset.
func TestUnsureEventOfParkedClientThatReset(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 1))
	r.dial()
	s.next(t)
	c := r.park()
	r.isolated(func(int64) {
		w := r.workers[0]
		write(t, c, "bytes")
		reset(c)
		r.untilBroken(1)
		for i := uint32(1); i < w.clients.Cap(); i++ {
			if c := w.clients.At(i); c.state == parked {
				w.Ready(clientRef(i), sys.In|sys.Out|sys.Unsure, kernel.Clock())
				if c.state == parked {
					t.Error("still parked")
				}
			}
		}
	})
	r.wantEnd(ClientQuit)
}

// An event that is a previous owner's does no harm in any state.
func TestUnsureEventsDoNoHarm(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 1), member(blackHole(t), 1))
	unsure := func() {
		t.Helper()
		r.on(func(w *worker) {
			for i := uint32(1); i < w.clients.Cap(); i++ {
				c := w.clients.At(i)
				was := c.state
				if was == 0 {
					continue
				}
				w.Ready(clientRef(i), sys.In|sys.Out|sys.Unsure, kernel.Clock())
				if c.pair != 0 {
					w.Ready(serverRef(i), sys.In|sys.Out|sys.Unsure, kernel.Clock())
				}
				if c.state != was {
					t.Errorf("state %d became %d", was, c.state)
				}
			}
		})
	}
	one, two := r.dial(), r.dial()
	up := s.next(t)
	three := r.park()
	unsure()
	write(t, one, "1") // to the server, or to nowhere
	write(t, two, "1")
	wantBytes(t, up, "1")
	write(t, up, "2")
	unsure()
	write(t, three, "x")
	unsure()
	up.Close()
	unsure()
}

// Urgent data: bytes behind it are not forgotten, nor cut off by FIN.
func TestUrgentData(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 0))
	for range 20 {
		c := r.dial()
		up := s.next(t)
		pass(t, c, up)
		r.hold()
		write(t, c, "before")
		urgent(t, c)
		write(t, c, "behind")
		c.CloseWrite()
		r.run()
		wantEOF(t, up, "beforebehind")
		up.Close()
		c.Close()
	}
}

// urgent sends an urgent byte, when there is room for it.
func urgent(t testing.TB, c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Write(func(fd uintptr) bool {
			err := unix.Sendto(int(fd), []byte("!"), unix.MSG_OOB, nil)
			if err != nil && err != unix.EAGAIN {
				t.Error(err)
			}
			return err != unix.EAGAIN
		})
	}
	if err != nil {
		t.Error(err)
	}
}

// A FIN and a reset that come together behind bytes: the bytes arrive, and the FIN.
func TestServerBytesFinAndReset(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 0))
	for range 20 {
		c := r.dial()
		up := s.next(t)
		pass(t, c, up)
		write(t, c, "unread")
		until(t, func() bool { return unread(t, up) == len("unread") }, "bytes at the server")
		r.hold()
		write(t, up, "answer")
		up.CloseWrite()
		up.Close() // with bytes unread
		r.untilBroken(1)
		r.run()
		wantEOF(t, c, "answer")
		c.Close()
		r.wantEnd(ServerEnd)
	}
}

// unread returns how many bytes have come that nobody has read.
func unread(t testing.TB, c *net.TCPConn) (n int) {
	withFD(t, c, func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.SIOCINQ)
		return err
	})
	return n
}
