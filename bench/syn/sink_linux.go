package syn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/wire"
)

// Sinks are the devices that the generator can be measured against.
const (
	Veth = "veth" // the other end takes every frame for somebody else's: what the generator itself can do
	Tap  = "tap"  // has a reader that counts: what the generator and a TAP device can do
)

// sink is where a measured generator sends to. received is how many frames of
// handshakes came, once those are there that were sent, or no more come.
type sink struct {
	received func(sent uint64) (uint64, error)
	close    func()
}

// measure floods a sink, in a network of its own, and tells how fast. What the
// sink received must be what was sent.
func (c Config) measure(ctx context.Context, kind string) (map[string]float64, error) {
	runtime.LockOSThread() // and not unlocked: the thread ends with its network
	const device = "sink0"
	s, err := newSink(kind, device)
	if err != nil {
		return nil, err
	}
	defer s.close()
	c.Device, c.Target, c.Work = device, netip.MustParseAddrPort("198.18.0.100:80"), Flood
	if err := c.complaint(); err != nil {
		return nil, err
	}
	port, err := wire.Find(device)
	if err != nil {
		return nil, err
	}
	g, err := makeGenerator(c, port, wire.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		return nil, err
	}
	defer g.close()
	r := &run{generator: g}
	defer context.AfterFunc(ctx, func() { r.stopped.Store(true) })()
	saw, err := r.play()
	if err != nil {
		return nil, err
	}
	h := saw.Handshakes
	sent := h.Sent - h.Dropped
	if n, err := s.received(sent); err != nil || n != sent {
		return nil, fmt.Errorf("%d frames were sent, and %d received: %v", sent, n, err)
	}
	return map[string]float64{
		"SYN/s":      float64(h.Counted) / saw.Seconds,
		"CPU ns/SYN": saw.CPU / float64(max(h.Counted, 1)) * 1e9,
		"dropped %":  100 * float64(h.Dropped) / float64(max(h.Sent, 1)),
	}, nil
}

// newSink makes a network for the calling thread, and a sink in it.
func newSink(kind, device string) (s sink, err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return s, fmt.Errorf("a network of its own needs root: %w", err)
	}
	// Else the kernel's own frames would be counted.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0); err != nil && !os.IsNotExist(err) {
		return s, err
	}
	switch kind {
	case Veth:
		const end = "sink1"
		s = sink{func(uint64) (uint64, error) { return received(end) }, func() {}}
		if err = ip("link", "add", device, "type", "veth", "peer", "name", end); err == nil {
			err = ip("link", "set", end, "up")
		}
	case Tap:
		s, err = tapSink(device)
	default:
		return s, fmt.Errorf("-sink %q: must be %s or %s", kind, Veth, Tap)
	}
	if err == nil {
		err = ip("link", "set", device, "up")
	}
	return s, err
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// received is the kernel's count of frames that came to a device.
func received(device string) (n uint64, err error) {
	const packets = 1 // field behind the name
	text, err := os.ReadFile("/proc/thread-self/net/dev")
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if fields := strings.Fields(rest); strings.TrimSpace(name) == device && len(fields) > packets {
			return strconv.ParseUint(fields[packets], 10, 64)
		}
	}
	return 0, errors.Join(err, fmt.Errorf("device %s is not in /proc/net/dev", device))
}

// tapSink reads a TAP device, a frame a call, and looks at nothing but the type.
func tapSink(device string) (s sink, err error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return s, fmt.Errorf("/dev/net/tun: %w", err)
	}
	ifr, err := unix.NewIfreq(device)
	if err == nil {
		ifr.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		unix.Close(fd)
		return s, fmt.Errorf("TAP device: %w", err)
	}
	file := os.NewFile(uintptr(fd), device)
	var frames atomic.Uint64
	go func() {
		b := make([]byte, wire.Most)
		for {
			n, err := file.Read(b)
			if err != nil {
				return
			}
			if n == wire.SYNSize && b[12] == 0x08 && b[13] == 0 {
				frames.Add(1)
			}
		}
	}()
	return sink{func(sent uint64) (uint64, error) { return rest(&frames, sent), nil }, func() { file.Close() }}, nil
}

// rest is the number once it is that, or has not grown for five seconds.
func rest(n *atomic.Uint64, sent uint64) uint64 {
	const times, every = 500, 10 * time.Millisecond
	before := n.Load()
	for same := 0; before < sent && same < times; same++ {
		time.Sleep(every)
		if now := n.Load(); now != before {
			before, same = now, 0
		}
	}
	return before
}
