package device

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// works sees that frames go both ways through each queue.
func works(t *testing.T, d *Device) {
	t.Helper()
	w := host(t, d.Name())
	for i := range d.Queues() {
		out := segment(d, true, uint16(1000+i), []byte("out"))
		if e := d.Queue(i).WriteFrame(out); e != 0 {
			t.Fatalf("queue %d: %v", i, e)
		}
		if _, b := w.receive(); !bytes.Equal(b, out) {
			t.Errorf("%x", b)
		}
	}
	in := segment(d, false, 1000, pattern(3000))
	w.send(v4.undone(in, 1000), in)
	if _, b := get(t, d.Queue(0)); !bytes.Equal(b, in) {
		t.Errorf("%d bytes, not the %d that were sent", len(b), len(in))
	}
}

// gone sees that a device is gone: each call fails, and Check says it.
func gone(t *testing.T, d *Device, now int64) {
	t.Helper()
	for i := range d.Queues() {
		q := d.Queue(i)
		before := q.Counts().DroppedGone
		if e := q.WriteFrame(make([]byte, 60)); e != unix.EBADFD || q.Counts().DroppedGone != before+1 {
			t.Errorf("writing: %v, %+v", e, q.Counts())
		}
		var h VNet
		if _, e := q.Read(&h, make([]byte, 60), nil); e != unix.EBADFD {
			t.Errorf("reading: %v", e)
		}
		expect(t, q, now, Gone, true)
		expect(t, q, now, Gone, false)
	}
	if d.State() != Gone {
		t.Error(d.State())
	}
}

// A device that we made is made again, with all its queues at once.
func TestOursIsMadeAgain(t *testing.T) {
	network(t)
	var j journal
	var c clock
	d := open(t, Config{Queues: 2, MTU: 1400, Backlog: 2000, Log: j.log()})
	fds := [2]int{d.Queue(0).FD(), d.Queue(1).FD()}
	expect(t, d.Queue(0), c.second(), Up, false)
	expect(t, d.Queue(1), int64(c), Up, false)
	for round := range 3 {
		ip(t, "link del "+name)
		gone(t, d, int64(c)) // a failed read is followed at once
		expect(t, d.Queue(1), int64(c)+pause/2, Gone, false)
		expect(t, d.Queue(1), c.second(), Up, true)
		expect(t, d.Queue(0), int64(c), Up, true)
		expect(t, d.Queue(0), c.second(), Up, false)
		works(t, d)
		if l, e := sys.FindLink(d.links, name); e != 0 || l.MTU != 1400 || l.QueueLen != 2000 || l.Queues != 2 {
			t.Errorf("%+v, %v", l, e)
		}
		if a, b := j.count("ERROR", "deleted", "made again"), j.count("is back"); a != round+1 || b != round+1 {
			t.Fatal(j.String())
		}
	}
	if fds != [2]int{d.Queue(0).FD(), d.Queue(1).FD()} {
		t.Error("other descriptors")
	}
	if j.count("") != 6 {
		t.Error(j.String())
	}
}

// One that was there before is waited for, however long.
func TestOthersIsWaitedFor(t *testing.T) {
	network(t)
	var j journal
	var c clock
	ip(t, "tuntap add dev "+name+" mode tap multi_queue")
	d := open(t, Config{Queues: 2, Log: j.log()})
	ip(t, "link del "+name)
	gone(t, d, int64(c))
	for range 100 {
		expect(t, d.Queue(0), c.second(), Gone, false)
	}
	if _, e := sys.FindLink(d.links, name); e != unix.ENODEV {
		t.Error("it was made")
	}
	// The wrong device in its place: said once.
	ip(t, "tuntap add dev "+name+" mode tap")
	for range 10 {
		expect(t, d.Queue(1), c.second(), Gone, false)
	}
	ip(t, "link del "+name)
	if j.count("") != 2 || j.count("one queue only") != 1 {
		t.Error(j.String())
	}
	ip(t, "tuntap add dev "+name+" mode tap multi_queue")
	expect(t, d.Queue(1), c.second(), Up, true)
	expect(t, d.Queue(0), int64(c), Up, true)
	works(t, d)
	if j.count("") != 3 || j.count("is back") != 1 {
		t.Error(j.String())
	}
}

// Gone and back between two calls of a loop is news for it.
func TestMissedBothMoves(t *testing.T) {
	network(t)
	var c clock
	d := open(t, Config{Queues: 2})
	ip(t, "link del "+name)
	expect(t, d.Queue(0), c.second(), Gone, true)
	expect(t, d.Queue(0), c.second(), Up, true)
	expect(t, d.Queue(1), int64(c), Up, true)
	expect(t, d.Queue(1), c.second(), Up, false)
}

func TestDownAndUp(t *testing.T) {
	network(t)
	var j journal
	var c clock
	d := open(t, Config{Log: j.log()})
	q := d.Queue(0)
	w := host(t, name)
	w.send(VNet{}, segment(d, false, 1, nil))
	ip(t, "link set "+name+" down")
	if e := q.WriteFrame(make([]byte, 60)); e != unix.EIO || q.Counts().DroppedDown != 1 {
		t.Errorf("%v, %+v", e, q.Counts())
	}
	get(t, q) // what was there before can still be read
	var h VNet
	if _, e := q.Read(&h, make([]byte, 60), nil); e != unix.EAGAIN {
		t.Error(e)
	}
	if r := sys.Poll(q.FD()); r&(sys.In|sys.Err) != 0 {
		t.Errorf("ready for %b: a loop would be busy", r)
	}
	expect(t, q, c.second(), Down, true)
	for range 100 {
		expect(t, q, c.second(), Down, false)
	}
	ip(t, "link set "+name+" up")
	expect(t, q, c.second(), Up, true)
	works(t, d)
	if j.count("") != 2 || j.count("ERROR", "is down", "ip link set "+name+" up") != 1 || j.count("is back") != 1 {
		t.Error(j.String())
	}
}

// A loop that stops watching a device that is gone, and watches it again when it
// is back, is not kept busy, and misses nothing.
func TestWatched(t *testing.T) {
	network(t)
	var c clock
	d := open(t, Config{})
	q := d.Queue(0)
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ep)
	watch := func(op int) {
		if err := unix.EpollCtl(ep, op, q.FD(), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(q.FD())}); err != nil {
			t.Fatal(err)
		}
	}
	events := func() uint32 {
		var ev [1]unix.EpollEvent
		if n, err := unix.EpollWait(ep, ev[:], 0); n < 0 {
			t.Fatal(err)
		}
		return ev[0].Events
	}
	watch(unix.EPOLL_CTL_ADD)
	for range 3 {
		if ev := events(); ev != 0 {
			t.Errorf("%#x with nothing there", ev)
		}
		host(t, name).send(VNet{}, segment(d, false, 1, nil))
		if ev := events(); ev != unix.EPOLLIN {
			t.Errorf("%#x with a frame there", ev)
		}
		ip(t, "link del "+name)
		if ev := events(); ev&unix.EPOLLERR == 0 {
			t.Errorf("%#x of a device that is gone", ev)
		}
		gone(t, d, int64(c))
		watch(unix.EPOLL_CTL_DEL)
		if ev := events(); ev != 0 {
			t.Errorf("%#x though nobody watches", ev)
		}
		expect(t, q, c.second(), Up, true)
		watch(unix.EPOLL_CTL_ADD)
	}
}

func TestRenamed(t *testing.T) {
	network(t)
	var j journal
	var c clock
	d := open(t, Config{Log: j.log()})
	q := d.Queue(0)
	ip(t, "link set "+name+" down")
	ip(t, "link set "+name+" name pn3-n")
	expect(t, q, c.second(), Down, true)
	ip(t, "link set pn3-n up")
	expect(t, q, c.second(), Up, true)
	if d.Missed() != 0 {
		t.Error("missed")
	}
	ip(t, "link del pn3-n")
	expect(t, q, c.second(), Gone, true)
	expect(t, q, c.second(), Up, true)
	works(t, d) // under its own name
}

// In another network namespace it goes on, by whatever name, and a namesake here
// has nothing to do with it.
func TestMovedAway(t *testing.T) {
	network(t)
	var j journal
	var c clock
	d := open(t, Config{Log: j.log(), Backlog: 1000})
	q := d.Queue(0)
	namespace(t)
	defer ip(t, "netns del "+elsewhere)
	ip(t, "link set "+name+" netns "+elsewhere)
	expect(t, q, c.second(), Down, true) // as the kernel leaves it
	ip(t, "link add "+name+" type veth peer name pn3-p")
	ip(t, "link set "+name+" up")
	expect(t, q, c.second(), Down, false)
	ip(t, "-n "+elsewhere+" link set "+name+" name pn3-m")
	ip(t, "-n "+elsewhere+" link set pn3-m up")
	expect(t, q, c.second(), Up, true)
	if e := q.WriteFrame(make([]byte, 60)); e != 0 {
		t.Error(e)
	}
	within(t, elsewhere, func() {
		w := host(t, "pn3-m")
		in := segment(d, false, 1, []byte("in"))
		w.send(VNet{}, in)
		if _, b := get(t, q); !bytes.Equal(b, in) {
			t.Errorf("%x", b)
		}
		out := segment(d, true, 1, []byte("out"))
		q.WriteFrame(out)
		if _, b := w.receive(); !bytes.Equal(b, out) {
			t.Errorf("%x", b)
		}
		for range 1100 {
			w.send(VNet{}, in)
		}
	})
	for range 2 {
		if n := d.Missed(); n < 100 || n > 116 { // places are free again by 16
			t.Errorf("%d missed", n)
		}
	}
	ip(t, "-n "+elsewhere+" link set pn3-m down")
	expect(t, q, c.second(), Down, true)
	ip(t, "link del "+name)
	expect(t, q, c.second(), Down, false)
	if j.count("") != 3 || j.count("is down") != 2 || j.count("ip link set pn3-m up") != 1 {
		t.Error(j.String())
	}
	ip(t, "-n "+elsewhere+" link del pn3-m")
	expect(t, q, c.second(), Gone, true)
	expect(t, q, c.second(), Up, true)
	works(t, d)
}

// Moved with a namespace that ends, it ends.
func TestNamespaceEnds(t *testing.T) {
	network(t)
	var c clock
	d := open(t, Config{})
	namespace(t)
	ip(t, "link set "+name+" netns "+elsewhere)
	expect(t, d.Queue(0), c.second(), Down, true)
	ip(t, "netns del "+elsewhere) // the kernel follows in its own time
	readable(t, d.Queue(0).FD())
	expect(t, d.Queue(0), c.second(), Gone, true)
	expect(t, d.Queue(0), c.second(), Up, true)
	works(t, d)
}

// elsewhere is the name of another network namespace; such names are the
// machine's, where others may run the same test.
var elsewhere = fmt.Sprint("pn3-", os.Getpid())

// namespace makes it.
func namespace(t *testing.T) {
	t.Helper()
	ip(t, "netns add "+elsewhere)
	within(t, elsewhere, func() { mute(t) })
}

// within runs f in a network namespace that has a name.
func within(t *testing.T, namespace string, f func()) {
	t.Helper()
	enter := func(path string) func() {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
				t.Fatal(err)
			}
			unix.Close(fd)
		}
	}
	back := enter("/proc/thread-self/ns/net")
	enter("/run/netns/" + namespace)()
	f()
	back()
}

// Goroutines that write, and loops that read and check, while the device comes
// and goes: nothing is lost but frames, and nothing is written anywhere else.
func TestComesAndGoesUnderLoad(t *testing.T) {
	network(t)
	d := open(t, Config{Queues: 2})
	var ended atomic.Bool
	var wg sync.WaitGroup
	b := segment(d, true, 1, pattern(200))
	for i := range d.Queues() {
		q := d.Queue(i)
		wg.Go(func() { // as netstack
			for !ended.Load() {
				q.Write(&VNet{}, [][]byte{b[:50], b[50:]})
			}
		})
		wg.Go(func() { // as a loop
			var h VNet
			b := make([]byte, MaxFrame)
			for now := int64(1); !ended.Load(); now += pause / 10 {
				q.Read(&h, b[:100], b[100:])
				q.Check(now)
				d.Missed()
			}
		})
	}
	for range 20 {
		files := openFiles(t)
		exec.Command("ip", "link", "set", name, "down").Run() // not if it is gone just now
		exec.Command("ip", "link", "del", name).Run()
		closeEmpty(t, files)
	}
	ended.Store(true)
	wg.Wait()
	for now := int64(1) << 60; ; now += pause {
		if s, _ := d.Queue(0).Check(now); s == Up {
			break
		}
	}
	works(t, d)
}

// openFiles takes descriptors that a closed one might have been.
func openFiles(t *testing.T) (fds [20]int) {
	t.Helper()
	for i := range fds {
		var err error
		if fds[i], err = unix.MemfdCreate("pn3", unix.MFD_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	return fds
}

func closeEmpty(t *testing.T, fds [20]int) {
	t.Helper()
	for _, fd := range fds {
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil || s.Size != 0 {
			t.Errorf("%v, %d bytes in somebody else's file", err, s.Size)
		}
		unix.Close(fd)
	}
}
