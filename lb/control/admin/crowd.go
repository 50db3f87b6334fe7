package admin

import (
	"net"
	"sync"
)

// MostClients is how many may be connected to the interface at once. It is
// small, since each takes a descriptor that no client of the proxy can have;
// the next one waits until one of them leaves.
const MostClients = 64

// crowd is a listener that lets a bounded number in.
type crowd struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newCrowd(ln net.Listener, most int) *crowd {
	return &crowd{Listener: ln, room: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept waits for room first, and then for somebody.
func (c *crowd) Accept() (net.Conn, error) {
	select {
	case c.room <- struct{}{}:
	case <-c.closed:
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		<-c.room
		return nil, err
	}
	return &guest{Conn: conn, leave: func() { <-c.room }}, nil
}

// Close also ends an Accept that waits for room.
func (c *crowd) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Listener.Close()
}

// guest is one of the crowd.
type guest struct {
	net.Conn
	once  sync.Once
	leave func()
}

func (g *guest) Close() error {
	g.once.Do(g.leave)
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
