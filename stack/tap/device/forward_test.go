package device

import (
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// forwarder is a bridge between two devices: the least that one can do with
// frames, so that what is left is the cost of reading and writing them.
type forwarder struct {
	q    [2]*Queue
	hold atomic.Bool // Send and not Write
	rest atomic.Bool // after a turn
	want atomic.Int64
	done chan spent
}

// spent is what so many frames took.
type spent struct{ frames, calls, cpu, turns int64 }

func (s spent) less(o spent) spent {
	return spent{s.frames - o.frames, s.calls - o.calls, s.cpu - o.cpu, s.turns - o.turns}
}

// run forwards until want is negative. When want is positive it counts that many
// frames, and says done.
func (f *forwarder) run() {
	runtime.LockOSThread() // for its clock
	defer runtime.UnlockOSThread()
	head, tail := make([]byte, 2048), make([]byte, MaxFrame)
	var all, from spent
	counting := false
	for {
		want := f.want.Load()
		switch {
		case want < 0:
			return
		case want > 0 && !counting:
			counting, all.cpu = true, threadTime()
			from = all
		case want > 0 && all.frames-from.frames >= want:
			counting, all.cpu = false, threadTime()
			f.want.Store(0)
			f.done <- all.less(from)
		}
		f.turn(&all, head, tail)
	}
}

func (f *forwarder) turn(s *spent, head, tail []byte) {
	parts := make([][]byte, 2)
	watch := [2]unix.PollFd{{Fd: int32(f.q[0].FD()), Events: unix.POLLIN}, {Fd: int32(f.q[1].FD()), Events: unix.POLLIN}}
	unix.Poll(watch[:], 10)
	s.calls++
	s.turns++
	for i := range watch {
		if watch[i].Revents == 0 {
			continue
		}
		to := f.q[1-i]
		n := int64(0)
		for n < 64 {
			var h VNet
			size, e := f.q[i].Read(&h, head, tail)
			s.calls++
			if e != 0 {
				break
			}
			a, b := head[:min(size, len(head))], tail[:max(size-len(head), 0)]
			if !f.hold.Load() {
				parts[0], parts[1] = a, b
				to.Write(&h, parts)
				s.calls++
			} else {
				before := to.held.len()
				to.Send(&h, a, b)
				if to.held.len() == 0 {
					s.calls++
				}
				if before > 0 && to.held.len() <= before {
					s.calls++
				}
			}
			n++
		}
		if f.hold.Load() {
			s.calls += f.flush(to)
		}
		s.frames += n
	}
}

// flush flushes, and returns how many system calls it took.
func (f *forwarder) flush(q *Queue) (calls int64) {
	if q.held.len() > 0 {
		calls++
	}
	if !f.rest.Load() {
		q.flush()
		q.held.sent = 0
		return calls
	}
	before := q.held.rest.n
	q.Flush()
	return calls + q.held.rest.n - before
}

func threadTime() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}

// BenchmarkForward is the cost of forwarding the frames of 64 connections between
// two kernels, a request and an answer of 64 bytes at a time, and of 4 that
// send as much as they can. ns/op is the time between frames; what they cost is
// the forwarder's processor time. The kernel delivers what is written in that
// time, so much of it is TCP's.
func BenchmarkForward(b *testing.B) {
	for _, load := range []string{"requests", "bulk"} {
		b.Run(load, func(b *testing.B) {
			f := &forwarder{done: make(chan spent)}
			apart := make(chan struct{})
			go func() {
				defer close(apart)
				f.q[1] = side(b, "pn3-b", "198.18.0.2/24", "server")
			}()
			<-apart
			f.q[0] = side(b, "pn3-a", "198.18.0.1/24", load)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.run()
			}()
			f.want.Store(10_000) // until all are at it
			<-f.done
			for _, way := range []string{"plain", "held", "held and rested"} {
				b.Run(way, func(b *testing.B) {
					f.hold.Store(way != "plain")
					f.rest.Store(way == "held and rested")
					f.want.Store(int64(b.N))
					s := <-f.done
					per := func(n int64) float64 { return float64(n) / float64(s.frames) }
					b.ReportMetric(per(s.cpu), "cpu-ns/frame")
					b.ReportMetric(per(s.calls), "calls/frame")
					b.ReportMetric(1/per(s.turns), "frames/turn")
				})
			}
			f.want.Store(-1)
			<-ended
		})
	}
}

// side makes a network namespace with a device, and in it a process that
// plays a part until the benchmark ends.
func side(b *testing.B, link, address, part string) *Queue {
	network(b)
	q := open(b, Config{Name: link}).Queue(0)
	ip(b, "addr add "+address+" dev "+link)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), partVar+"="+part)
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		b.Error(err)
		return q
	}
	b.Cleanup(func() {
		in.Close() // ends it
		c.Wait()
	})
	return q
}

// partVar has this program play a part in BenchmarkForward.
const partVar = "PN3_FORWARD"

func init() {
	const echo, discard = "198.18.0.2:80", "198.18.0.2:81"
	switch os.Getenv(partVar) {
	case "":
		return
	case "server":
		go serve(echo, func(c net.Conn) { io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) })
		go serve(discard, func(c net.Conn) { io.Copy(io.Discard, struct{ io.Reader }{c}) })
	case "requests":
		for range 64 {
			go func() { request(dial(echo)) }()
		}
	case "bulk":
		for range 4 {
			go func() { bulk(dial(discard)) }()
		}
	}
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func serve(at string, each func(net.Conn)) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		panic(err)
	}
	for {
		if c, err := l.Accept(); err == nil {
			go each(c)
		}
	}
}

func dial(to string) net.Conn {
	for {
		if c, err := net.Dial("tcp", to); err == nil {
			return c
		}
	}
}

func request(c net.Conn) {
	b := make([]byte, 64)
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
	}
}

func bulk(c net.Conn) {
	b := make([]byte, 256<<10)
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}
