package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mostReason bounds a reason: some errors quote what a server sent.
const mostReason = 160

// reason says why a check failed, without the addresses and local ports that
// make net's errors a new text each time.
func reason(err error, limit time.Duration) string {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		step, _, _ := strings.Cut(err.Error(), ":")
		return fmt.Sprintf("%s: nothing within %v", step, limit.Round(time.Millisecond))
	}
	s := err.Error()
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		step, _, _ := strings.Cut(s, ":")
		cause := op.Err
		if sys := (*os.SyscallError)(nil); errors.As(cause, &sys) {
			cause = sys.Err
		}
		s = step + ": " + cause.Error()
	}
	if len(s) > mostReason {
		s = strings.ToValidUTF8(s[:mostReason], "") + "..."
	}
	return s
}

// ourFault says that a check failed for want of something on this machine.
// EADDRNOTAVAIL is a port that is free for this server.
func ourFault(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOBUFS, unix.EADDRNOTAVAIL} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
