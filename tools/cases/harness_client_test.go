package cases

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// client is a connection to the proxy.
type client struct {
	*net.TCPConn
	t  testing.TB
	at time.Time // when it was connected
}

// connect opens a connection that is closed when the test ends.
func (p *proxy) connect() *client {
	p.t.Helper()
	c, err := connect(p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return &client{c, p.t, time.Now()}
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

func connect(addr string) (*net.TCPConn, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// say sends text.
func (c *client) say(text string) {
	c.t.Helper()
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
	s, err := readLine(c, within)
	if err != nil {
		c.t.Fatalf("not served within %v: %v", within, err)
	}
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
	default:
		return ending(err.Error())
	}
}

// refused fails the test unless the connection is reset in time without a byte.
func (c *client) refused(within time.Duration) {
	c.t.Helper()
	if how, text := c.ends(within); how != byReset || text != "" {
		c.t.Errorf("%s after %v with %q; want a reset and nothing", how, time.Since(c.at), text)
	}
}

// turnedAway connects and fails the test unless it is reset at once. The
// reset may be faster than the end of connect.
func (p *proxy) turnedAway() {
	p.t.Helper()
	start := time.Now()
	if conn, err := connect(p.addr); err == nil {
		c := &client{conn, p.t, start}
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
