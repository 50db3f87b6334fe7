package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What -admin may be, without a token and with one.
var (
	errAddress = errors.New("allowed is unix:PATH, or IP:PORT with a loopback address such as 127.0.0.1 or [::1]: " +
		"whoever can connect needs no password; other addresses need -admin-token-file")
	errForm = errors.New("allowed is unix:PATH, or IP:PORT")
)

// listen opens "unix:PATH" or "IP:PORT", which is for everybody on this host
// unless a token guards it.
func listen(address string, guarded bool) (net.Listener, error) {
	var ln net.Listener
	var err error
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		ln, err = listenUnix(path)
	} else {
		ln, err = listenTCP(address, guarded)
	}
	if err != nil {
		return nil, fmt.Errorf("-admin %q: %w", address, err)
	}
	return ln, nil
}

func listenTCP(address string, guarded bool) (net.Listener, error) {
	a, err := netip.ParseAddrPort(address)
	switch {
	case guarded && err != nil:
		return nil, errForm
	case !guarded && (err != nil || !a.Addr().Unmap().IsLoopback()):
		return nil, errAddress
	}
	return net.Listen("tcp", address)
}

// listenUnix makes the socket and its folder. The socket of a process that
// died is replaced.
func listenUnix(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	c := net.ListenConfig{Control: ownerOnly}
	return c.Listen(context.Background(), "unix", path)
}

// staleWait is how long a socket may take to say whether anybody is there.
const staleWait = 2 * time.Second

// removeStale removes a socket that nobody listens on, and nothing else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is a file that is no socket; remove it, or choose another path")
	}
	c, err := net.DialTimeout("unix", path, staleWait)
	switch {
	case err == nil:
		c.Close()
		return errors.New("another process serves it; stop that one, or choose another path")
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("look whether another process serves it: %w", err)
	}
	return os.Remove(path)
}
