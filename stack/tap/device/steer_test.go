package device

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/steer"
)

// arrivals reads all that the queues have, and calls f for each frame.
func arrivals(t testing.TB, d *Device, f func(q int, b []byte)) (n int) {
	t.Helper()
	for i := range d.Queues() {
		for {
			var h VNet
			b := make([]byte, 200)
			got, e := d.Queue(i).Read(&h, b, nil)
			if e != 0 {
				break
			}
			f(i, b[:min(got, len(b))])
			n++
		}
	}
	return n
}

// steered sends segments of many flows and sees that each comes to its queue.
func steered(t testing.TB, d *Device, h *steer.Hash, rule steer.Rule, flows int) {
	t.Helper()
	const most = 500 // at once: the kernel holds no more
	r := rand.New(rand.NewPCG(uint64(flows), uint64(rule)))
	w := host(t, d.Name())
	share := make([]int, d.Queues())
	for sent := 0; sent < flows; sent += most {
		for i := range most {
			l := frame.Flow{SrcMAC: hostMAC, DstMAC: d.MAC(), SrcPort: uint16(r.Uint32()), DstPort: uint16(r.Uint32())}
			l.Src, l.Dst = v4.host, v4.ours
			if i%2 == 1 {
				l.Src, l.Dst = v6.host, v6.ours
				binary.BigEndian.PutUint32(l.Src[4:], r.Uint32())
				binary.BigEndian.PutUint32(l.Dst[4:], r.Uint32())
			}
			binary.BigEndian.PutUint16(l.Src[14:], uint16(r.Uint32()))
			binary.BigEndian.PutUint16(l.Dst[14:], uint16(r.Uint32()))
			w.send(VNet{}, frame.AppendTCP(nil, &l, &frame.Header{Flags: frame.ACK}, nil))
		}
		n := arrivals(t, d, func(q int, b []byte) {
			var p frame.Packet
			if p.Parse(b, d.MAC()) != frame.TCP {
				t.Fatalf("%x", b)
			}
			want := h.Queue(rule, h.Endpoint(&p.Src, p.SrcPort), h.Endpoint(&p.Dst, p.DstPort))
			if q != want {
				t.Fatalf("queue %d, want %d: %x", q, want, b)
			}
			share[q]++
			// An answer through another queue moves nothing.
			a := p.Reply(d.MAC())
			d.Queue((q + 1) % d.Queues()).WriteFrame(frame.AppendTCP(nil, &a, &frame.Header{Flags: frame.ACK}, nil))
		})
		if n != most {
			t.Fatalf("%d of %d frames came", n, most)
		}
	}
	for q, n := range share {
		if n < flows/len(share)/2 {
			t.Errorf("queue %d got %d of %d", q, n, flows)
		}
	}
}

func TestSteered(t *testing.T) {
	for _, queues := range []int{2, 3, 7} {
		for _, rule := range []steer.Rule{steer.Source, steer.Destination, steer.Both} {
			t.Run(fmt.Sprint(queues, " queues, rule ", rule), func(t *testing.T) {
				network(t)
				h := steer.New(rand.Uint64(), queues)
				d := open(t, Config{Queues: queues, Backlog: 1000, Steer: h, Rule: rule})
				if !d.Steered() {
					t.Fatal("not steered")
				}
				steered(t, d, h, rule, 4000)
			})
		}
	}
}

// What a loop can't tell the owner of by ports comes to the first queue.
func TestUnsteered(t *testing.T) {
	network(t)
	d := open(t, Config{Queues: 4, Backlog: 1000, Steer: steer.New(1, 4), Rule: steer.Both})
	w := host(t, name)
	for i := range 100 {
		l := frame.Flow{SrcMAC: hostMAC, DstMAC: d.MAC(), Src: v4.host, Dst: v4.ours, SrcPort: uint16(i), DstPort: 80}
		b := frame.AppendTCP(nil, &l, &frame.Header{Flags: frame.ACK}, nil)
		b[ether+6] = 0x20 // a fragment
		w.send(VNet{}, b)
		b[ether+6], b[ether+9] = 0, 1 // ICMP
		w.send(VNet{}, b)
		w.send(VNet{}, b[:ether]) // short as no other
	}
	if n := arrivals(t, d, func(q int, b []byte) {
		if q != 0 {
			t.Fatalf("queue %d: %x", q, b)
		}
	}); n != 300 {
		t.Errorf("%d frames", n)
	}
}

// It stays so when the device is made again, moved, and set down and up.
func TestSteeredAgain(t *testing.T) {
	network(t)
	var c clock
	h := steer.New(1, 3)
	d := open(t, Config{Queues: 3, Backlog: 1000, Steer: h, Rule: steer.Destination})
	for range 3 {
		ip(t, "link del "+name)
		expect(t, d.Queue(0), c.second(), Gone, true)
		expect(t, d.Queue(0), c.second(), Up, true)
		if !d.Steered() {
			t.Fatal("not steered")
		}
		steered(t, d, h, steer.Destination, 500)
	}
	ip(t, "link set "+name+" down")
	ip(t, "link set "+name+" up")
	steered(t, d, h, steer.Destination, 500)
	namespace(t)
	defer ip(t, "netns del "+elsewhere)
	ip(t, "link set "+name+" netns "+elsewhere)
	ip(t, "-n "+elsewhere+" link set "+name+" up")
	within(t, elsewhere, func() { steered(t, d, h, steer.Destination, 500) })
}

// A device that stays is left to the kernel's choice, and who does not want to
// steer takes away what somebody left.
func TestNoProgramIsLeft(t *testing.T) {
	network(t)
	ip(t, "tuntap add dev "+name+" mode tap multi_queue")
	var f frame.Flow // any; all frames of it are alike
	of := func(d *Device) map[int]bool {
		w, got := host(t, name), map[int]bool{}
		for i := range uint16(100) {
			f = frame.Flow{SrcMAC: hostMAC, DstMAC: d.MAC(), Src: v4.host, Dst: v4.ours, SrcPort: i, DstPort: 80}
			w.send(VNet{}, frame.AppendTCP(nil, &f, &frame.Header{Flags: frame.ACK}, nil))
		}
		arrivals(t, d, func(q int, _ []byte) { got[q] = true })
		return got
	}
	// For one queue, as of a program with other ideas: all frames come to it.
	one := steer.New(1, 1)
	d := open(t, Config{Queues: 2})
	if err := one.Attach(d.Queue(1).FD(), steer.Source); err != nil {
		t.Fatal(err)
	}
	if got := of(d); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for _, q := range d.queues { // as if the program was killed
		sys.Close(q.fd)
		q.fd = -1
	}
	d = open(t, Config{Queues: 2})
	if got := of(d); len(got) != 2 || d.Steered() {
		t.Errorf("%v", got)
	}
	if err := one.Attach(d.Queue(1).FD(), steer.Source); err != nil {
		t.Fatal(err)
	}
	d.Close()
	fds := [2]int{}
	for i := range fds {
		fds[i], _ = sys.OpenTun()
		if e := sys.Attach(fds[i], name, flags); e != 0 {
			t.Fatal(e)
		}
		defer sys.Close(fds[i])
	}
	if got := of(&Device{c: Config{Name: name, MAC: frame.MAC{2, 9}}, queues: []*Queue{{fd: fds[0]}, {fd: fds[1]}}}); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// Who may not load programs goes on by the kernel's choice, and is told once.
func TestNoRightToSteer(t *testing.T) {
	network(t)
	if b := sysctlOf(t, "/proc/sys/kernel/unprivileged_bpf_disabled"); b == "0" {
		t.Skip("this kernel lets everybody load programs")
	}
	ip(t, "tuntap add dev "+name+" mode tap multi_queue user 65534")
	ip(t, "link set "+name+" up")
	become(t, nobody)
	var j journal
	d := open(t, Config{Queues: 2, Steer: steer.New(1, 2), Log: j.log()})
	if d.Steered() || j.count("") != 1 || j.count("WARN", "kernel chooses the queues", "CAP_BPF") != 1 {
		t.Error(d.Steered(), j.String())
	}
	d.steer()
	if j.count("") != 1 {
		t.Error(j.String())
	}
	d.Close()
	// For one queue there is nothing to choose.
	if d := open(t, Config{Steer: steer.New(1, 1), Log: j.log()}); !d.Steered() || j.count("") != 1 {
		t.Error(d.Steered(), j.String())
	}
}

func TestSteeredElsewhere(t *testing.T) {
	fails(t, Config{Queues: 3, Steer: steer.New(1, 2)}, "2 queues of 3")
}

// What a frame costs its sender, in the kernel mostly, with either choice. The
// time is the thread's own.
func BenchmarkSteered(b *testing.B) {
	for what, h := range map[string]*steer.Hash{"kernel": nil, "program": steer.New(1, 2)} {
		b.Run(what, func(b *testing.B) {
			network(b)
			d := open(b, Config{Queues: 2, Backlog: 100, Steer: h})
			w := host(b, d.Name())
			f := append(bytes.Clone(bytesOf(&VNet{})), segment(d, false, 1, nil)...)
			var before, after unix.Rusage
			unix.Getrusage(unix.RUSAGE_THREAD, &before)
			for b.Loop() { // most are dropped, behind the choice
				unix.Write(w.fd, f)
			}
			unix.Getrusage(unix.RUSAGE_THREAD, &after)
			took := after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano()
			b.ReportMetric(float64(took)/float64(b.N), "cpu-ns/op")
		})
	}
}
