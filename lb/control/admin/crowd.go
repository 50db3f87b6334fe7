package admin

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// MostClients is how many may be connected to the interface at once. It is
// small, since each takes a descriptor that no client of the proxy can have.
const MostClients = 64

// crowd is a listener that lets a bounded number in. When it is full, the
// oldest of those makes room for the next one who has not been let past the
// guard yet: or else a few who say nothing would keep the operator out. If all
// have been, it is the oldest who asks for nothing at the moment; and if all do,
// the next one waits until one of them leaves.
type crowd struct {
	net.Listener
	most   int
	left   chan struct{} // one left, or has nothing to ask any more
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	guests []*guest // oldest first
}

func newCrowd(ln net.Listener, most int) *crowd {
	return &crowd{Listener: ln, most: most, left: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for somebody, and then for room.
func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn, crowd: c}
	for !c.admit(g) {
		select {
		case <-c.left:
		case <-c.closed:
			conn.Close()
			return nil, net.ErrClosed
		}
	}
	return g, nil
}

// admit says whether there is room, and makes some if it can.
func (c *crowd) admit(g *guest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.guests) >= c.most {
		i := c.least()
		if i < 0 {
			return false
		}
		c.guests[i].Conn.Close() // its server sees that, and leaves
		c.guests = slices.Delete(c.guests, i, i+1)
	}
	c.guests = append(c.guests, g)
	return true
}

// least is who has to go first; -1 is nobody.
func (c *crowd) least() int {
	if i := slices.IndexFunc(c.guests, func(g *guest) bool { return !g.known }); i >= 0 {
		return i
	}
	return slices.IndexFunc(c.guests, func(g *guest) bool { return !g.asking })
}

// Close also ends an Accept that waits for room.
func (c *crowd) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Listener.Close()
}

// look has who waits for room look again.
func (c *crowd) look() {
	select {
	case c.left <- struct{}{}:
	default:
	}
}

// guest is one of the crowd.
type guest struct {
	net.Conn
	crowd *crowd

	// Under crowd.mu.
	known  bool // it was let past the guard
	asking bool // and is being answered
}

func (g *guest) Close() error {
	g.crowd.mu.Lock()
	g.crowd.guests = slices.DeleteFunc(g.crowd.guests, func(o *guest) bool { return o == g })
	g.crowd.mu.Unlock()
	g.crowd.look()
	return g.Conn.Close()
}

// CloseWrite lets the server end an answer before the request was read to its
// end. A plain Close would reset the connection, answer and all.
func (g *guest) CloseWrite() error {
	if c, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

func (g *guest) ask(asking bool) {
	g.crowd.mu.Lock()
	g.known, g.asking = true, asking
	g.crowd.mu.Unlock()
	if !asking {
		g.crowd.look()
	}
}

type guestKey struct{}

// remember has a request know its guest.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// attend answers somebody whom the guard lets in.
func attend(h http.Handler, w http.ResponseWriter, r *http.Request) {
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
		g.ask(true)
		defer g.ask(false)
	}
	h.ServeHTTP(w, r)
}
