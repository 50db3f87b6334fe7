package stage

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// private moves the calling thread, and what it starts from now on, into a new
// network namespace with nothing but loopback, where congestion control is as
// given. The caller keeps its thread for good. It needs CAP_SYS_ADMIN.
func private(congestion string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	if congestion != "" {
		const file = "/proc/sys/net/ipv4/tcp_congestion_control"
		if err := os.WriteFile(file, []byte(congestion), 0); err != nil {
			return err
		}
	}
	return loopbackUp()
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
	return errors.Join(unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo))
}
