package steer

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// ErrRights says that this process may not load a program.
var ErrRights = errors.New("no right to load a program into the kernel: start with CAP_BPF " +
	"(as root, or setcap cap_bpf,cap_net_admin+ep on the program)")

// Attach makes the device that fd is a queue of choose queues by h. It goes with
// the device, which keeps it when its descriptors are closed if it is
// persistent: see Detach. On an error the device is as it was.
func (h *Hash) Attach(fd int, rule Rule) error {
	p, err := h.Program(rule)
	if errors.Is(err, unix.EPERM) {
		return ErrRights
	}
	if err != nil {
		return err
	}
	defer p.Close() // the device has a hold on it
	if e := sys.SetSteering(fd, p.FD()); e != 0 {
		return fmt.Errorf("give the device a program: %w", e)
	}
	return nil
}

// Detach leaves the choice to the kernel again.
func Detach(fd int) error {
	if e := sys.SetSteering(fd, -1); e != 0 {
		return fmt.Errorf("take the device's program away: %w", e)
	}
	return nil
}
