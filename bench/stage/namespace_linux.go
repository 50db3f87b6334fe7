package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrCongestion says that the kernel has no congestion control of a name.
var ErrCongestion = errors.New("no such congestion control")

const settings = "/proc/sys/net/ipv4/"

// enter moves the calling thread, and what it starts from now on, into a network
// namespace of its own with nothing but loopback, if it may, and says where it
// is. The caller keeps its thread for good.
//
// After an error it is in a network that is of no use.
func enter(congestion string) (where string, own bool, err error) {
	defer permit(congestion)()
	where = "own network namespace"
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		where = fmt.Sprintf("the machine's network (network namespace: %v)", err)
	} else if where, err = furnish(congestion, where); err != nil {
		return "", false, err
	} else {
		own = true
	}
	return where + ", " + word(settings+"tcp_congestion_control"), own, nil
}

// allowed are those that a new network may choose. The list is the machine's, and
// no network but its own has it.
const allowed = settings + "tcp_allowed_congestion_control"

// permit lets new networks choose a congestion control that the machine keeps to
// itself, until it is undone: what has been chosen by then stays. Where that is
// not allowed the choice fails, which is told.
func permit(congestion string) (undo func()) {
	if congestion == "" {
		return func() {}
	}
	f, err := alone()
	if err != nil {
		return func() {}
	}
	before := word(allowed)
	if slices.Contains(strings.Fields(before), congestion) {
		return func() { f.Close() }
	}
	f.WriteAt([]byte(before+" "+congestion), 0)
	return func() {
		f.WriteAt([]byte(before), 0)
		f.Close()
	}
}

// alone opens the list for one at a time, until it is closed: who read it while
// another permits something would take that for the machine's own, and find it gone
// when it chooses.
func alone() (*os.File, error) {
	f, err := os.OpenFile(allowed, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// furnish makes a new network fit for use. That the congestion control can't be
// chosen, as in a container whose /proc/sys is read-only, is told and no error.
func furnish(congestion, where string) (string, error) {
	if err := loopbackUp(); err != nil {
		return "", fmt.Errorf("loopback of a new network namespace: %w", err)
	}
	// A client's kernel that forwarded would send back what is for a generator.
	if err := os.WriteFile(settings+"ip_forward", []byte("0"), 0); err != nil && word(settings+"ip_forward") != "0" {
		return "", fmt.Errorf("a network namespace that does not forward: %w", err)
	}
	if congestion == "" {
		return where, nil
	}
	err := os.WriteFile(settings+"tcp_congestion_control", []byte(congestion), 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w: %q, of %s", ErrCongestion, congestion, word(settings+"tcp_available_congestion_control"))
	case err != nil:
		where += fmt.Sprintf(" (not with %s: %v)", congestion, err)
	}
	return where, nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
