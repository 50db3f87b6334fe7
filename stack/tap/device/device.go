package device

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/steer"
)

// Device is an open TAP device.
type Device struct {
	// Constant after Open.
	c      Config
	links  int // socket to ask about links; -1 none
	queues []*Queue
	mtu    int

	// word is the state and, above it, how often it changed, so that nobody
	// misses a time in between. Written under mu.
	word atomic.Uint32
	due  atomic.Int64 // when to look next; written under mu

	steered atomic.Bool // written under mu

	mu      sync.Mutex
	create  bool   // nobody else makes the device; constant after Open
	home    uint64 // number of the network namespace that we are in; 0 unknown; constant after Open
	warned  bool   // that the kernel chooses queues
	ailing  string // the last complaint about a device that can't be attached
	dropped uint64 // what the kernel counted when it was asked last
	missed  uint64 // and how much of that is since Open
}

// Open opens a device and all its queues, in the network namespace of the
// calling thread, and sets the link up. Errors say what to do.
func Open(c Config) (*Device, error) {
	if err := c.fill(); err != nil {
		return nil, fmt.Errorf("TAP device: %w", err)
	}
	d := &Device{c: c, links: -1}
	if err := d.open(); err != nil {
		d.Close()
		return nil, fmt.Errorf("TAP device %s: %w", c.Name, err)
	}
	return d, nil
}

func (d *Device) open() error {
	var e sys.Errno
	if d.links, e = sys.OpenLinks(); e != 0 {
		return fmt.Errorf("ask for links: %w", e)
	}
	for range d.c.Queues {
		fd, e := sys.OpenTun()
		if e != 0 {
			return noDriver(e)
		}
		d.queues = append(d.queues, &Queue{dev: d, fd: fd})
	}
	if _, e := sys.FindLink(d.links, d.c.Name); e == unix.ENODEV {
		d.create = true
	}
	if err := d.attach(); err != nil {
		return err
	}
	if err := d.furnish(); err != nil {
		return err
	}
	l, e := sys.FindLink(d.links, d.c.Name)
	if e != 0 {
		return fmt.Errorf("ask for it: %w", e)
	}
	d.mtu, d.dropped = l.MTU, l.Dropped
	home, ns := d.where()
	sys.Close(ns)
	d.home = home
	d.word.Store(uint32(d.find()))
	return nil
}

// Close gives the queues up, and with them a device that was made by Open.
// Nobody may use them any more.
func (d *Device) Close() {
	if !d.create && len(d.queues) > 0 {
		steer.Detach(d.queues[0].fd) // it stays, and our program should not
	}
	for _, q := range d.queues {
		q.held.close()
		sys.Close(q.fd)
		q.fd = -1
	}
	sys.Close(d.links)
	d.links = -1
}

// Name returns the device's name.
func (d *Device) Name() string { return d.c.Name }

// MTU returns the link's largest datagram, as it was when Open returned.
func (d *Device) MTU() int { return d.mtu }

// MAC returns the Ethernet address of our side.
func (d *Device) MAC() frame.MAC { return d.c.MAC }

// Queues returns how many queues there are.
func (d *Device) Queues() int { return len(d.queues) }

// Queue returns queue i, from 0.
func (d *Device) Queue(i int) *Queue { return d.queues[i] }

// Made says whether Open made the device: then it goes with Close.
func (d *Device) Made() bool { return d.create }

// Steered says whether frames come to the queues that Config.Steer chooses. Any
// goroutine.
func (d *Device) Steered() bool { return d.steered.Load() }

// Missed returns how many frames for us the kernel has dropped since Open,
// because they were not read fast enough mostly. It asks the kernel, which may
// take a moment: not for a loop.
func (d *Device) Missed() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, e := d.link(); e == 0 {
		if l.Dropped < d.dropped {
			d.dropped = 0 // it was made anew
		}
		d.missed += l.Dropped - d.dropped
		d.dropped = l.Dropped
	}
	return d.missed
}
