package device

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

func TestBothWays(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	var h VNet
	if n, e := q.Read(&h, make([]byte, 10), make([]byte, 10)); n != 0 || e != unix.EAGAIN {
		t.Errorf("%d, %v with nothing to read", n, e)
	}

	in := segment(d, false, 1, []byte("in"))
	w.send(VNet{}, in)
	if h, b := get(t, q); !bytes.Equal(b, in) || h != (VNet{}) {
		t.Errorf("%+v %x; sent was %x", h, b, in)
	}
	first, second := segment(d, true, 1, []byte("first")), segment(d, true, 1, []byte("second"))
	if e := q.WriteFrame(first); e != 0 {
		t.Error(e)
	}
	if e := q.Write(&VNet{}, [][]byte{second[:14], nil, second[14:20], second[20:]}); e != 0 {
		t.Error(e)
	}
	for _, want := range [][]byte{first, second} {
		if _, b := w.receive(); !bytes.Equal(b, want) {
			t.Errorf("%x; written was %x", b, want)
		}
	}
	want := Counts{InFrames: 1, InBytes: uint64(len(in)), OutFrames: 2, OutBytes: uint64(len(first) + len(second))}
	if c := q.Counts(); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// What doesn't fit is lost, without harm to the next frame.
func TestShortBuffers(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	long, short := segment(d, false, 1, pattern(500)), segment(d, false, 1, nil)
	w.send(VNet{}, long)
	w.send(VNet{}, short)
	var h VNet
	a, b := make([]byte, 20), make([]byte, 60)
	if n, e := q.Read(&h, a, b); n != 80 || e != 0 || !bytes.Equal(append(bytes.Clone(a), b...), long[:80]) {
		t.Errorf("%d, %v: %x %x", n, e, a, b)
	}
	if _, b := get(t, q); !bytes.Equal(b, short) {
		t.Errorf("%x", b)
	}
}

// The kernel hands over a large frame whole, and takes one.
func TestLargeWhole(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	for _, f := range []*family{v4, v6} {
		in, out := f.segment(d, false, 1, pattern(60_000)), f.segment(d, true, 1, pattern(60_000))
		sent := f.undone(in, 1400)
		w.send(sent, in)
		if h, b := get(t, q); h.GSO != sent.GSO || h.GSOSize != sent.GSOSize || h.Flags != NeedsCsum ||
			h.CsumStart != sent.CsumStart || h.CsumOffset != sent.CsumOffset || !bytes.Equal(b, in) {
			t.Errorf("%s: %+v, %d bytes, not the %d that were sent", f.name, h, len(b), len(in))
		}

		h := f.undone(out, 1400)
		if e := q.Write(&h, [][]byte{out[:f.dataAt], out[f.dataAt:9999], out[9999:]}); e != 0 {
			t.Fatal(e)
		}
		if h, b := w.receive(); h.GSO != f.gso || h.GSOSize != 1400 || !bytes.Equal(b, out) {
			t.Errorf("%s: %+v, %d bytes, not the %d that were written", f.name, h, len(b), len(out))
		}
	}
}

// The kernel does what was left undone when a frame goes on to a link that can't
// take it so: cuts it up, and sums.
func TestKernelFinishesFrames(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, beyond := d.Queue(0), router(t)
	families := []*family{v4}
	if hasIPv6() {
		families = append(families, v6)
	}
	for _, f := range families {
		payload := pattern(60_000)
		one := f.segment(d, true, 1, payload[:100])
		h := f.undone(one, 0)
		if e := q.Write(&h, [][]byte{one}); e != 0 {
			t.Fatal(e)
		}
		_, b := receive(t, beyond, readTCP(beyond))
		whole(t, b, payload[:100])

		large := f.segment(d, true, 1, payload)
		h = f.undone(large, 1400)
		if e := q.Write(&h, [][]byte{large}); e != 0 {
			t.Fatal(e)
		}
		for seq := uint32(1000); len(payload) > 0; {
			h, b := receive(t, beyond, readTCP(beyond))
			n := min(1400, len(payload))
			whole(t, b, payload[:n])
			var p frame.Packet
			p.Parse(b, frame.MAC(b[:6]))
			if h != (VNet{}) || p.Seq != seq {
				t.Errorf("%s: %+v, sequence number %d, want %d", f.name, h, p.Seq, seq)
			}
			payload, seq = payload[n:], seq+uint32(n)
		}
	}
}

// readTCP reads what is TCP: IPv6 has things to tell about itself.
func readTCP(fd int) func([]byte) (int, error) {
	return func(b []byte) (n int, err error) {
		for {
			n, err = unix.Read(fd, b)
			var p frame.Packet
			if err != nil || p.Parse(b[sizeofVNet:n], frame.MAC(b[sizeofVNet:])) == frame.TCP {
				return n, err
			}
		}
	}
}

// router makes the host a router from the device's network to one behind a
// second TAP, which takes no offload, and returns that one's descriptor.
func router(t *testing.T) int {
	t.Helper()
	fd, e := sys.OpenTun()
	if e != 0 {
		t.Fatal(e)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if e := sys.Attach(fd, "pn3-r", unix.IFF_TAP|unix.IFF_NO_PI|unix.IFF_VNET_HDR); e != 0 {
		t.Fatal(e)
	}
	ip(t, "link set lo up")
	ip(t, "link set "+name+" address "+hostMAC.String())
	for link, net := range map[string]string{name: "198.19.255.1/16", "pn3-r": "198.18.255.1/16"} {
		ip(t, "link set "+link+" up")
		ip(t, "addr add "+net+" dev "+link)
	}
	neighbour := " lladdr 02:00:00:00:00:09 dev pn3-r"
	ip(t, "neigh add 198.18.0.1"+neighbour)
	sysctl(t, "ipv4/ip_forward", "1")
	if !hasIPv6() {
		return fd
	}
	for link, net := range map[string]string{name: "fd13::ffff/16", "pn3-r": "fd12::ffff/16"} {
		sysctl(t, "ipv6/conf/"+link+"/dad_transmits", "0")
		sysctl(t, "ipv6/conf/"+link+"/router_solicitations", "0")
		ip(t, "link set "+link+" addrgenmode none")
		sysctl(t, "ipv6/conf/"+link+"/disable_ipv6", "0")
		ip(t, "addr add "+net+" dev "+link)
	}
	ip(t, "neigh add fd12::1"+neighbour)
	sysctl(t, "ipv6/conf/all/forwarding", "1")
	return fd
}

// Each frame of a flow comes through one queue, all queues get some, and what is
// answered through the flow's queue does not move it.
func TestFlowsKeepTheirQueue(t *testing.T) {
	network(t)
	const queues, flows = 3, 300
	d := open(t, Config{Queues: queues, Backlog: 2000})
	w := host(t, name)
	of := map[uint16]int{}
	for round := range 3 {
		for port := range uint16(flows) {
			w.send(VNet{}, segment(d, false, 1000+port, nil))
		}
		share := [queues]int{}
		for i := range queues {
			for {
				var h VNet
				b := make([]byte, 100)
				n, e := d.Queue(i).Read(&h, b[:50], b[50:])
				if e != 0 {
					break
				}
				var p frame.Packet
				if p.Parse(b[:n], d.MAC()) != frame.TCP {
					t.Fatalf("%x", b[:n])
				}
				if q, ok := of[p.SrcPort]; ok && q != i {
					t.Fatalf("round %d: port %d has moved from queue %d to %d", round, p.SrcPort, q, i)
				}
				of[p.SrcPort] = i
				share[i]++
				d.Queue(i).WriteFrame(segment(d, true, p.SrcPort, nil))
			}
		}
		if n := share[0] + share[1] + share[2]; n != flows || min(share[0], share[1], share[2]) < flows/queues/2 {
			t.Errorf("round %d: %v of %d flows", round, share, flows)
		}
	}
}

// What goes to a flow through another queue takes it there; an IPv6 flow label
// does not.
func TestAnswerMovesFlow(t *testing.T) {
	network(t)
	d := open(t, Config{Queues: 2})
	w := host(t, name)
	at := func(b []byte) int {
		w.send(VNet{}, b)
		for i := range 2 {
			var h VNet
			if n, e := d.Queue(i).Read(&h, make([]byte, 200), nil); n == len(b) && e == 0 {
				return i
			}
		}
		t.Fatal("no frame")
		return -1
	}
	for port := range uint16(50) {
		b := v6.segment(d, false, 1+port, nil)
		first := at(b)
		b[ether+2] = byte(port) // of the label
		if now := at(b); now != first {
			t.Errorf("moved from queue %d to %d by a flow label", first, now)
		}
		d.Queue(1 - first).WriteFrame(v6.segment(d, true, 1+port, nil))
		if now := at(b); now == first {
			t.Errorf("stays in queue %d, answered through %d", first, 1-first)
		}
	}
}

// Frames that are not read in time are counted.
func TestMissed(t *testing.T) {
	network(t)
	ip(t, "tuntap add dev "+name+" mode tap multi_queue")
	ip(t, "link set "+name+" txqueuelen 10")
	d := open(t, Config{})
	w := host(t, name)
	for range 25 {
		w.send(VNet{}, segment(d, false, 1, nil))
	}
	if n := d.Missed(); n != 15 {
		t.Errorf("%d missed", n)
	}
	d.Close()
	if d = open(t, Config{}); d.Missed() != 0 {
		t.Errorf("%d missed before it began", d.Missed())
	}
}

func TestManyParts(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	for _, n := range []int{mostParts - 1, mostParts, mostParts + 1, 500} {
		b := segment(d, true, 1, pattern(1000))
		parts := [][]byte{}
		for i := range n {
			parts = append(parts, b[len(b)*i/n:len(b)*(i+1)/n])
		}
		if e := q.Write(&VNet{}, parts); e != 0 {
			t.Fatal(e)
		}
		if _, got := w.receive(); !bytes.Equal(got, b) {
			t.Errorf("%d parts: %d bytes, not the %d that were written", n, len(got), len(b))
		}
	}
}

func TestNoFrame(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q := d.Queue(0)
	b := segment(d, true, 1, nil)
	h := v4.undone(b, 100)
	h.HdrLen = 1000
	for name, e := range map[string]sys.Errno{
		"nothing":      q.Write(&VNet{}, nil),
		"a runt":       q.WriteFrame(b[:13]),
		"a long head":  q.Write(&h, [][]byte{b}),
		"unknown kind": q.Write(&VNet{GSO: 77}, [][]byte{b}),
	} {
		if e != unix.EINVAL {
			t.Errorf("%s: %v", name, e)
		}
	}
	if c := q.Counts(); c != (Counts{DroppedInvalid: 4}) {
		t.Errorf("%+v", c)
	}
}

func TestAllocatesNothing(t *testing.T) {
	network(t)
	d := open(t, Config{})
	q, w := d.Queue(0), host(t, name)
	b := segment(d, true, 1, pattern(100))
	many := make([][]byte, mostParts+10)
	many[0] = b
	var c clock
	if n := testing.AllocsPerRun(100, func() {
		var h VNet
		var a [60]byte
		var rest [100]byte
		q.Read(&h, a[:], rest[:])
		parts := [...][]byte{b[:20], b[20:]}
		q.Write(&h, parts[:])
		q.WriteFrame(b)
		q.Write(&h, many)
		q.Check(int64(c))
		q.Counts()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	w.receive() // they did arrive
}

func BenchmarkWrite(b *testing.B) {
	network(b)
	d := open(b, Config{})
	f := segment(d, true, 1, pattern(100))
	parts := [][]byte{f[:dataAt], f[dataAt:]}
	var h VNet
	b.ReportAllocs()
	for b.Loop() {
		d.Queue(0).Write(&h, parts)
	}
}

// Frames that the host sends in batches are read until there are none.
func BenchmarkRead(b *testing.B) {
	network(b)
	const batch = 500
	d := open(b, Config{Backlog: batch})
	w := host(b, name)
	f := segment(d, false, 1, nil)
	head, rest := make([]byte, 200), make([]byte, MaxFrame)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		b.StopTimer()
		for range batch {
			w.send(VNet{}, f)
		}
		b.StartTimer()
		for {
			var h VNet
			if _, e := d.Queue(0).Read(&h, head, rest); e != 0 {
				break
			}
			n++
		}
	}
}
