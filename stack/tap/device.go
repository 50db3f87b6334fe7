package tap

import (
	"log/slog"
	"math/rand/v2"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/steer"
)

// Device is what the ports share: a device.Device, or what a test has instead.
type Device interface {
	Queue(i int) Queue
	MAC() frame.MAC
	MTU() int
	State() device.State
	Missed() uint64
	Close()
}

// Queue is what frames of one port come from and go to: a device.Queue.
// WriteFrame is for any goroutine, the rest is the loop's.
type Queue interface {
	FD() int
	Waiting() bool
	Read(h *device.VNet, a, b []byte) (n int, e sys.Errno)
	WriteFrame(b []byte) sys.Errno
	Send(h *device.VNet, head, tail []byte)
	SendParts(h *device.VNet, parts [][]byte)
	Held() bool
	Last() (h *device.VNet, frame []byte)
	Flush()
	Check(now int64) (s device.State, changed bool)
	Counts() device.Counts
}

// Devices are what ports read and write.
type Devices struct {
	Clients Device
	Servers Device // that servers are behind; nil: Clients
	// Hash is what both choose their queues by; of no meaning unless Steered.
	Hash    *steer.Hash
	Steered func() bool
}

// servers is the device that servers are behind.
func (d *Devices) servers() Device {
	if d.Servers != nil {
		return d.Servers
	}
	return d.Clients
}

// Close closes both.
func (d *Devices) Close() {
	if d.Clients != nil {
		d.Clients.Close()
	}
	if d.Servers != nil {
		d.Servers.Close()
	}
}

// opened is a device.Device.
type opened struct{ *device.Device }

func (d opened) Queue(i int) Queue { return d.Device.Queue(i) }

// Open opens the devices with a queue for each loop.
func Open(c Config, queues int, log *slog.Logger) (*Devices, error) {
	hash := steer.New(rand.Uint64(), queues)
	rule := steer.Both
	if c.Servers != nil {
		rule = steer.Source
	}
	open := func(name string, mtu int, mac [6]byte, rule steer.Rule) (opened, error) {
		d, err := device.Open(device.Config{
			Name: name, Queues: queues, MTU: mtu, MAC: mac, Backlog: queueLength, Log: log, Steer: hash, Rule: rule,
		})
		return opened{d}, err
	}
	clients, err := open(c.Device, c.MTU, c.MAC, rule)
	if err != nil {
		return nil, err
	}
	d := &Devices{Clients: clients, Hash: hash, Steered: clients.Steered}
	if s := c.Servers; s != nil {
		servers, err := open(s.Device, s.MTU, s.MAC, steer.Destination)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.Servers = servers
		d.Steered = func() bool { return clients.Steered() && servers.Steered() }
	}
	return d, nil
}

// queueLength is how many frames the kernel holds for a queue: a burst of SYNs
// comes faster than a turn of the loop ends.
const queueLength = 1 << 14
