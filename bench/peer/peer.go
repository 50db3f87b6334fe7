package peer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Setup is what a proxy is to be set up for.
type Setup struct {
	Dir         string         // for its files; there already, and this proxy's alone
	Listen      netip.AddrPort // where clients connect to
	Members     []Member       // the servers; at least one
	Connections int            // clients at a time, at most; at least 1
	Loops       int            // loops, threads or workers; at least 1
	Reloads     bool           // Reload will be called
	Tap         *Tap           // where clients come from, for who is Tapped; nil: Listen is the kernel's
	More        []string       // a scenario's lines for this program
}

// Member is a server, with how many connections it may get at a time; 0 is no
// limit.
type Member struct {
	Address netip.AddrPort
	Limit   int
}

// Tap is a TAP device of which the proxy is the other end.
type Tap struct {
	Device  string
	Address netip.Prefix // Listen's, and its network

	// Congestion is the congestion control of everybody else: the proxy's is to be
	// the same, if it has that.
	Congestion string

	// Servers is the device that servers are behind, and the address there; the
	// proxy then forwards packets. Empty: it connects by its kernel.
	Servers string
	Behind  netip.Prefix
}

// Tapped is a peer that takes clients from a TAP device, and so can tell of
// those that it has not answered.
type Tapped interface {
	Peer

	// Opened says that the proxy that was set up so has its devices: they can be
	// moved now.
	Opened(s Setup) bool

	// Handshakes are those of the proxy that was set up so, since it was started.
	Handshakes(s Setup) (Handshakes, error)
}

// Handshakes is what a proxy says that it knows of.
type Handshakes struct {
	Begun  int64 // that it has taken or answered
	Parked int64 // that it has not answered yet
}

// Peer is one proxy, or one way to set it up. It holds no state.
type Peer interface {
	Name() string

	// Command writes the files that are needed and returns the command that
	// runs the proxy in the foreground, until SIGTERM. None: clients connect to
	// the first member.
	Command(s Setup) (argv []string, err error)

	// Reload writes the files anew and tells the process that runs them. It
	// does not wait for the change to be in force. The process stays; its
	// workers, if it has such, may be replaced.
	Reload(s Setup, pid int) error

	// Check is the command that says whether what Command wrote is accepted,
	// and ends with 0 if so. None: there is nothing to check.
	Check(s Setup) (argv []string)

	// Version is what the program calls itself, or why that is not known.
	Version() string
}

// Paths are the programs. One without a slash is looked up in PATH; an empty
// one is the name of its program.
type Paths struct{ Penstock, HAProxy, Nginx string }

// Names are the peers there are.
func Names() []string {
	names := []string{"penstock"}
	for _, w := range ways {
		names = append(names, w.name)
	}
	return append(names, "nginx", "none")
}

// ErrMissing is that of a peer whose program is not on this machine.
var ErrMissing = errors.New("program not found, see -penstock, -haproxy and -nginx")

// Find returns the peer of a name, one of Names. An error that is ErrMissing
// says that its program is not there.
func Find(name string, paths Paths) (Peer, error) {
	switch name {
	case "penstock":
		path, err := program(name, paths.Penstock)
		return penstock{path}, err
	case "nginx":
		path, err := program(name, paths.Nginx)
		return nginx{path}, err
	case "none":
		return none{}, nil
	}
	for _, w := range ways {
		if w.name == name {
			path, err := program("haproxy", paths.HAProxy)
			return haproxy{path, w}, err
		}
	}
	return nil, fmt.Errorf("proxy %q is not one of %s", name, strings.Join(Names(), ", "))
}

// program finds a program in PATH, or where Debian puts servers.
func program(name, path string) (string, error) {
	if path == "" {
		path = name
	}
	found, err := exec.LookPath(path)
	if err != nil && !strings.Contains(path, "/") {
		found, err = exec.LookPath("/usr/sbin/" + path)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %q", name, ErrMissing, path)
	}
	return filepath.Abs(found)
}

// version is the first line that a program prints when asked, if it ends soon.
func version(argv ...string) string {
	const soon = 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = soon // whom it has started may hold the pipe
	out, err := cmd.CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" && err != nil {
		return err.Error()
	}
	return line
}

// place writes a file at once: who reads it meanwhile finds the old or the new.
func place(s Setup, name, text string) (file string, err error) {
	file = filepath.Join(s.Dir, name)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return file, err
	}
	return file, os.Rename(file+".new", file)
}

// tell sends a signal to the process of a proxy.
func tell(pid int, sig syscall.Signal) error {
	if pid <= 1 {
		return fmt.Errorf("process %d is no proxy", pid)
	}
	return syscall.Kill(pid, sig)
}

// sections sorts lines by the word that each begins with, which must be one of
// names.
func sections(program string, lines []string, names ...string) (map[string][]string, error) {
	sorted := map[string][]string{}
	for _, l := range lines {
		section, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		known := false
		for _, n := range names {
			known = known || n == section
		}
		if rest = strings.TrimSpace(rest); !known || rest == "" {
			return nil, fmt.Errorf("%s %q: must begin with one of %s, and go on with a line for it", program, l, strings.Join(names, ", "))
		}
		sorted[section] = append(sorted[section], rest)
	}
	return sorted, nil
}

// none is no proxy: it shows what clients and servers could do.
type none struct{}

func (none) Name() string                    { return "none" }
func (none) Command(Setup) ([]string, error) { return nil, nil }
func (none) Reload(Setup, int) error         { return nil }
func (none) Check(Setup) []string            { return nil }
func (none) Version() string                 { return "" }
