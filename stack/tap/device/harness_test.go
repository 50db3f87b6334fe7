package device

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock/stack/leak"
	"penstock/stack/tap/frame"
)

func TestMain(m *testing.M) { leak.Main(m) }

// network moves the test into a network namespace of its own, which ends with
// the test: its thread is not used again.
func network(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, for a network namespace")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skip(err)
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	mute(t)
}

// mute has links of this namespace speak no IPv6: they would send frames of their own.
func mute(t testing.TB) {
	t.Helper()
	if hasIPv6() {
		sysctl(t, "ipv6/conf/default/disable_ipv6", "1")
	}
}

// hasIPv6 says whether this kernel was started with it.
func hasIPv6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6/conf/default")
	return err == nil
}

// ip runs the command of that name.
func ip(t testing.TB, args string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", args, err, out)
	}
}

const name = "pn3-t"

func open(t testing.TB, c Config) *Device {
	t.Helper()
	if c.Name == "" {
		c.Name = name
	}
	c.Queues = max(c.Queues, 1)
	d, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// fails opens a device that can't be, and looks for words in the error.
func fails(t testing.TB, c Config, words ...string) {
	t.Helper()
	if c.Name == "" {
		c.Name = name
	}
	c.Queues = max(c.Queues, 1)
	d, err := Open(c)
	if err == nil {
		d.Close()
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
	t.Log(err)
}

var hostMAC = frame.MAC{2, 0, 0, 0, 0, 1}

// family is the addresses of the link's two sides, and where things lie in a
// segment between them.
type family struct {
	name          string
	host, ours    frame.Addr
	tcpAt, dataAt int
	gso           uint8
}

const (
	ether  = 14
	dataAt = ether + 20 + 20 // of IPv4
	sumAt  = 16              // in the TCP header
)

var (
	v4 = &family{
		"IPv4", frame.Addr{10: 0xff, 11: 0xff, 12: 198, 13: 18, 15: 1}, frame.Addr{10: 0xff, 11: 0xff, 12: 198, 13: 19, 15: 2},
		ether + 20, ether + 20 + 20, GSOTCP4,
	}
	v6 = &family{"IPv6", frame.Addr{0: 0xfd, 1: 18, 15: 1}, frame.Addr{0: 0xfd, 1: 19, 15: 2}, ether + 40, ether + 40 + 20, GSOTCP6}
)

// segment makes a TCP segment from the host's side of the link to ours, or the
// other way round.
func (f *family) segment(d *Device, out bool, port uint16, payload []byte) []byte {
	l := frame.Flow{SrcMAC: hostMAC, DstMAC: d.MAC(), Src: f.host, Dst: f.ours, SrcPort: port, DstPort: 80}
	if out {
		l = frame.Flow{SrcMAC: d.MAC(), DstMAC: hostMAC, Src: f.ours, Dst: f.host, SrcPort: 80, DstPort: port}
	}
	return frame.AppendTCP(nil, &l, &frame.Header{Seq: 1000, Ack: 1, Flags: frame.ACK, Window: 1000}, payload)
}

// undone turns a whole segment into one that the kernel is to sum, and to cut up
// if size is not 0.
func (f *family) undone(b []byte, size int) VNet {
	pseudo := frame.Pseudo(&f.host, &f.ours, len(b)-f.tcpAt) // the same in both directions
	binary.BigEndian.PutUint16(b[f.tcpAt+sumAt:], pseudo)
	h := VNet{Flags: NeedsCsum, CsumStart: uint16(f.tcpAt), CsumOffset: sumAt}
	if size != 0 {
		h.GSO, h.HdrLen, h.GSOSize = f.gso, uint16(f.dataAt), uint16(size)
	}
	return h
}

func segment(d *Device, out bool, port uint16, payload []byte) []byte {
	return v4.segment(d, out, port, payload)
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// wire is the host's side of a link: a packet socket with the same header as
// our side has.
type wire struct {
	t  testing.TB
	fd int
}

func host(t testing.TB, link string) *wire {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, fd: fd}
	w.bind(link)
	return w
}

// bind looks the link up anew; the socket of a link that was deleted is dead.
func (w *wire) bind(link string) {
	w.t.Helper()
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	if err := unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index(w.t, link)}); err != nil {
		w.t.Fatal(err)
	}
}

func index(t testing.TB, link string) int {
	t.Helper()
	r, err := unix.NewIfreq(link)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, r); err != nil {
		t.Fatal(err)
	}
	return int(r.Uint32())
}

func bytesOf(h *VNet) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(h)), sizeofVNet) }

// send sends a frame towards our side.
func (w *wire) send(h VNet, b []byte) {
	w.t.Helper()
	if _, err := unix.Write(w.fd, append(bytes.Clone(bytesOf(&h)), b...)); err != nil {
		w.t.Fatal(err)
	}
}

// receive waits for the next frame that our side sent.
func (w *wire) receive() (h VNet, b []byte) {
	w.t.Helper()
	return receive(w.t, w.fd, func(b []byte) (int, error) {
		for {
			n, from, err := unix.Recvfrom(w.fd, b, 0)
			if ll, ok := from.(*unix.SockaddrLinklayer); ok && err == nil && ll.Pkttype == unix.PACKET_OUTGOING {
				continue // what we sent ourselves
			}
			return n, err
		}
	})
}

func receive(t testing.TB, fd int, read func([]byte) (int, error)) (h VNet, b []byte) {
	t.Helper()
	b = make([]byte, MaxFrame+sizeofVNet)
	for { // what woke it may be nothing that read wants
		n, err := read(b)
		if err == nil {
			return *(*VNet)(unsafe.Pointer(&b[0])), b[sizeofVNet:n]
		}
		if err != unix.EAGAIN {
			t.Fatal(err)
		}
		readable(t, fd)
	}
}

// readable waits until there is something to read.
func readable(t testing.TB, fd int) {
	t.Helper()
	const patience = time.Minute // the kernel ends namespaces one after the other, of all programs
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
		switch {
		case n > 0:
			return
		case err != nil && err != unix.EINTR: // of the runtime's own signals
			t.Fatal(err)
		case time.Now().After(deadline):
			t.Fatalf("nothing to read within %v", patience)
		}
	}
}

// get waits for the next frame at one of our queues.
func get(t testing.TB, q *Queue) (h VNet, b []byte) {
	t.Helper()
	b = make([]byte, MaxFrame)
	for {
		n, e := q.Read(&h, b[:60], b[60:])
		if e == 0 {
			return h, b[:n]
		}
		if e != unix.EAGAIN {
			t.Fatal(e)
		}
		readable(t, q.FD())
	}
}

// whole fails the test unless b is a sound segment with this payload.
func whole(t testing.TB, b, payload []byte) {
	t.Helper()
	var p frame.Packet
	if k := p.Parse(b, frame.MAC(b[:6])); k != frame.TCP {
		t.Fatalf("a frame that is %v: %x", k, b[:min(len(b), 60)])
	}
	if !p.ChecksumOK(b) {
		t.Error("wrong checksum")
	}
	if !bytes.Equal(b[p.Data:p.End], payload) {
		t.Errorf("%d bytes of payload, not the %d that were sent", p.End-p.Data, len(payload))
	}
}

// journal is a log to look into.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// count says how many lines have all the words.
func (j *journal) count(words ...string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
lines:
	for line := range strings.Lines(j.b.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue lines
			}
		}
		n++
	}
	return n
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// clock is a time for Check that the test moves on.
type clock int64

func (c *clock) second() int64 { *c += clock(time.Second); return int64(*c) }

func expect(t testing.TB, q *Queue, now int64, s State, changed bool) {
	t.Helper()
	if got, news := q.Check(now); got != s || news != changed {
		t.Fatalf("Check says %v, changed %v; want %v, %v", got, news, s, changed)
	}
}

// sysctl sets a number of the network namespace.
func sysctl(t testing.TB, key, v string) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/"+key, []byte(v), 0); err != nil {
		t.Fatal(err)
	}
}

func sysctlOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}
