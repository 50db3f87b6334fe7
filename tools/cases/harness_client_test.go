package cases

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// client is a connection to the proxy. Over TAP it may be one that the kernel
// is still trying to make, and late then keeps what it has said.
type client struct {
	*net.TCPConn
	t    testing.TB
	at   time.Time // when it began to connect: nobody can have accepted it before
	late *late     // nil, but over TAP
	to   netip.AddrPort
}

// connect opens a connection that is closed when the test ends.
func (p *proxy) connect() *client {
	p.t.Helper()
	return p.from("")
}

// dial is connect for who may be refused before it is connected, and closes
// by itself. An empty source is any.
func (p *proxy) dial(source string) (*client, error) {
	if *overTap {
		return dialLate(p.t, near(source), p.addr)
	}
	at := time.Now()
	c, err := connectFrom(source, p.addr)
	if err != nil {
		return nil, err
	}
	return &client{c, p.t, at, nil, netip.AddrPort{}}, nil
}

// connectMany opens n connections, one after the other.
func (p *proxy) connectMany(n int) (cs []*client) {
	p.t.Helper()
	for range n {
		cs = append(cs, p.connect())
	}
	return cs
}

// polite opens n connections that close when their server does, as a slot is
// free only when both sides have said all.
func (p *proxy) polite(n int) (cs []*client) {
	p.t.Helper()
	for range n {
		c := p.connect()
		cs = append(cs, c)
		go func() {
			io.Copy(io.Discard, c)
			c.Close()
		}()
	}
	return cs
}

// say sends text; over TAP, when it is connected.
func (c *client) say(text string) {
	c.t.Helper()
	if c.late.postpone(func() { c.Write([]byte(text)) }) {
		return
	}
	if _, err := c.Write([]byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// greeting reads the name of the server it got to; empty if none came in time.
func (c *client) greeting(within time.Duration) string {
	s, err := readLine(c, within)
	if err != nil {
		return ""
	}
	return s
}

// served fails the test unless the client is greeted in time. It returns by whom.
func (c *client) served(within time.Duration) string {
	c.t.Helper()
	start := time.Now()
	s, err := readLine(c, max(within, patience))
	if err != nil {
		c.t.Fatalf("not served within %v: %v", time.Since(start), err)
	}
	inTime(c.t, "served", start, within)
	return s
}

// waiting says that no byte and no end has come.
func (c *client) waiting() bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	n, err := c.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// reset leaves with RST.
func (c *client) reset() {
	c.SetLinger(0)
	c.Close()
}

// ending is how a connection was over.
type ending string

const (
	byFIN   ending = "FIN"
	byReset ending = "reset"
	notYet  ending = "not over"
)

// ends reads until the connection is over, or the time is.
func (c *client) ends(within time.Duration) (how ending, text string) {
	c.SetReadDeadline(time.Now().Add(within))
	b, err := io.ReadAll(c)
	return endOf(err), string(b)
}

func endOf(err error) ending {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return byFIN
	case errors.Is(err, os.ErrDeadlineExceeded):
		return notYet
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return byReset
	case *overTap && errors.Is(err, syscall.ECONNREFUSED): // so a reset is called while connecting
		return byReset
	default:
		return ending(err.Error())
	}
}

// refused fails the test unless the connection is reset in time without a byte.
func (c *client) refused(within time.Duration) {
	c.t.Helper()
	start := time.Now()
	if how, text := c.ends(max(within, patience)); how != byReset || text != "" {
		c.t.Errorf("%s after %v with %q; want a reset and nothing", how, time.Since(c.at), text)
	}
	inTime(c.t, "refused", start, within)
}

// turnedAway connects and fails the test unless it is reset at once. The
// reset may be faster than the end of connect.
func (p *proxy) turnedAway() {
	p.t.Helper()
	start := time.Now()
	if c, err := p.dial(""); err == nil {
		c.refused(patience)
		c.Close()
	} else if endOf(err) != byReset {
		p.t.Errorf("connect: %v", err)
	}
	between(p.t, "turned away", time.Since(start), 0, 100*time.Millisecond)
}

// readLine reads up to a newline, and no further.
func readLine(c net.Conn, within time.Duration) (string, error) {
	c.SetReadDeadline(time.Now().Add(within))
	defer c.SetReadDeadline(time.Time{})
	var line strings.Builder
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(c, b); err != nil {
			return line.String(), err
		}
		if b[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b[0])
	}
}
