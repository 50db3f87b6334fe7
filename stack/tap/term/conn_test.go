package term

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// noise is n bytes that look like nothing else.
func noise(n int, seed uint64) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	b := make([]byte, n)
	r.Read(b)
	return b
}

// A connection comes up with its addresses, in both families and with the
// device doing all or nothing of the work, and what is sent either way arrives.
func TestBothWays(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for _, at := range []netip.AddrPort{server4, server6} {
			t.Run(fmt.Sprintf("%v strict=%v", at, strict), func(t *testing.T) {
				p := newPair(t, setup{strict: strict})
				p.listen(at)
				accepted, _ := p.accepts()
				c := p.mustDial(at)
				e := await(t, accepted)
				if e.Virtual != 7 || e.Local.AddrPort() != at || e.Peer.AddrPort().String() != c.LocalAddr().String() {
					t.Errorf("accepted %+v from %v", e, c.LocalAddr())
				}
				p.server.do(func() {
					if p.server.Peer(e.Conn) != e.Peer || p.server.Local(e.Conn) != e.Local {
						t.Error("Peer and Local are others than the event said")
					}
				})
				p.exchange(e.Conn, c, size(8<<20))
			})
		}
	}
}

// exchange sends n bytes each way at the same time, through kernel sockets on
// the server's side, and then the ends.
func (p *pair) exchange(conn uint32, c io.ReadWriteCloser, n int) {
	p.t.Helper()
	fd, peer := socketPair(p.t)
	r := p.relay(conn, fd)
	up, down := noise(n, 1), noise(n, 2)
	got := make(chan []byte)
	go func() {
		b, err := io.ReadAll(peer)
		if err != nil {
			p.t.Error(err)
		}
		got <- b
	}()
	go func() {
		if _, err := c.Write(up); err != nil {
			p.t.Error(err)
		}
		c.(interface{ CloseWrite() error }).CloseWrite()
	}()
	go func() {
		if _, err := peer.Write(down); err != nil {
			p.t.Error(err)
		}
		peer.(interface{ CloseWrite() error }).CloseWrite()
	}()
	b, err := io.ReadAll(c)
	if err != nil {
		p.t.Error(err)
	}
	same(p.t, "down", b, down)
	same(p.t, "up", <-got, up)
	<-r.done
}

// size is how much to move: less if the race detector looks at each byte.
func size(n int) int {
	if raceEnabled {
		return n / 8
	}
	return n
}

func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes %x, want %d bytes %x", what, len(got), sha256.Sum256(got), len(want), sha256.Sum256(want))
	}
}

// relay passes on what comes between a connection and a kernel socket, as the
// proxy does, until both directions ended. It looks at the socket all the time.
type relayed struct{ done chan struct{} }

func (p *pair) relay(conn uint32, fd int) *relayed {
	r := &relayed{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer sys.Close(fd)
		upDone, downDone := false, false
		for !upDone || !downDone {
			busy := false
			p.server.do(func() {
				if !upDone {
					n, own, to := p.server.ReadTo(conn, fd, 1<<20)
					busy = busy || n > 0
					if n == 0 && own == 0 && to == 0 {
						sys.ShutdownWrite(fd)
						upDone = true
					} else if own != 0 && own != unix.EAGAIN || to != 0 && to != unix.EAGAIN {
						p.t.Errorf("ReadTo: %v, %v", own, to)
						upDone = true
					}
				}
				if !downDone {
					if n := sys.Queued(fd); n > 0 {
						n, e := p.server.WriteFrom(conn, fd, n)
						busy = busy || n > 0
						if e != 0 && e != unix.EAGAIN {
							p.t.Errorf("WriteFrom: %v", e)
							downDone = true
						}
					} else if n, e := sys.Peek(fd, make([]byte, 1)); n == 0 && e == 0 {
						p.server.ShutdownWrite(conn)
						downDone = true
					}
				}
			})
			if !busy {
				time.Sleep(100 * time.Microsecond)
			}
		}
		p.server.do(func() { p.server.Close(conn) })
	}()
	return r
}
