package stage

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Stage is the place of one run after the other. Its methods may be called from
// any goroutine.
type Stage struct {
	*Place
	Dir     string // for files, deleted by Close
	Network string // where it is, for people

	own        bool // the network is
	congestion string
	port       uint16 // the last one given out; of the thread
}

// The ports after firstPort lie below those that the kernel gives to connections
// (from 32768 on).
const firstPort, lastPort = 20000, 31999

// Open makes a stage, with the congestion control of this name if that may be
// chosen; empty is the machine's. One that the kernel does not have is
// ErrCongestion.
func Open(congestion string) (*Stage, error) {
	dir, err := os.MkdirTemp("", "penbench")
	if err != nil {
		return nil, err
	}
	g, err := newGuard(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	s := &Stage{Place: newPlace(g), Dir: dir, congestion: congestion, port: firstPort}
	if s.Do(func() { s.Network, s.own, err = enter(congestion) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the stage, its directory and its network; the processes are the
// caller's to End before.
func (s *Stage) Close() error {
	s.leave()
	s.guard.end()
	return os.RemoveAll(s.Dir)
}

// word is what a small file says, empty if there is none.
func word(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text))
}

// Congestion is the congestion control in force on the stage.
func (s *Stage) Congestion() (name string) {
	s.Do(func() { name = word(settings + "tcp_congestion_control") })
	return name
}

// Address returns one of 127.0.0.1 that nobody uses. None is given out twice
// before all were. Where all are in use it is one of these: who listens there
// tells.
func (s *Stage) Address() netip.AddrPort {
	return s.AddressAt(s.Place, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
}

// AddressAt is Address of another IP address, of a place.
func (s *Stage) AddressAt(p *Place, ip netip.Addr) (a netip.AddrPort) {
	for range lastPort - firstPort + 1 {
		var unused bool
		s.Do(func() { a = s.next(ip) })
		if p.Do(func() { unused = free(a) }); unused {
			break
		}
	}
	return a
}

func (s *Stage) next(ip netip.Addr) netip.AddrPort {
	if s.port++; s.port > lastPort {
		s.port = firstPort
	}
	return netip.AddrPortFrom(ip, s.port)
}

func free(a netip.AddrPort) bool {
	l, err := net.Listen("tcp", a.String())
	if err == nil {
		l.Close()
	}
	return err == nil
}
