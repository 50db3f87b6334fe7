package device

import (
	"fmt"
	"log/slog"
	"strings"

	"golang.org/x/sys/unix"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/steer"
)

// Config says which device to open.
type Config struct {
	// Name is the device's, 15 bytes at most. One that is there already must be
	// a TAP with several queues (ip tuntap add dev NAME mode tap multi_queue)
	// that no other program has open; otherwise one is made, which goes with
	// Close.
	Name string
	// Queues is how many queues to open, 1 to 256.
	Queues int
	// MTU of the link; 0 leaves it as it is.
	MTU int
	// Backlog is how many frames, at least, the kernel shall hold for each queue
	// before it drops some; 0 leaves it as it is (1000). More than is set already
	// takes privileges; without them the log says what to do.
	Backlog int
	// MAC is our side's Ethernet address, which is not the link's own. Zero: one
	// made from the names of machine and device, the same at each start.
	MAC frame.MAC
	// Steer chooses the queue of each frame, by Rule; it is for as many queues.
	// Nil: the kernel chooses, and so it does if a program may not be loaded,
	// which is in the log and in Steered.
	Steer *steer.Hash
	Rule  steer.Rule
	// Log is told when the device goes and when it is back. Nil: nobody.
	Log *slog.Logger
}

// MostQueues is how many a TAP device may have.
const MostQueues = 256

// fill replaces what is not set, and checks the rest.
func (c *Config) fill() error {
	switch {
	case c.Name == "" || c.Name == "." || c.Name == ".." || strings.ContainsAny(c.Name, "/:% \t\n"):
		return fmt.Errorf("%q can't be the name of a device", c.Name)
	case len(c.Name) >= unix.IFNAMSIZ:
		return fmt.Errorf("device name %q is longer than %d bytes", c.Name, unix.IFNAMSIZ-1)
	case c.Queues < 1 || c.Queues > MostQueues:
		return fmt.Errorf("%d queues: a TAP device has 1 to %d", c.Queues, MostQueues)
	case c.Steer != nil && c.Steer.Queues() != c.Queues:
		return fmt.Errorf("frames are steered to %d queues of %d", c.Steer.Queues(), c.Queues)
	case c.MAC.Group():
		return fmt.Errorf("%v is a group address: it can't be a host's", c.MAC)
	}
	if c.MAC == (frame.MAC{}) {
		c.MAC = madeMAC(c.Name)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
