package cases

import (
	"io"
	"net"
	"time"
)

// from opens a connection from an address of this host, such as 127.0.0.2,
// that is closed when the test ends.
func (p *proxy) from(source string) *client {
	p.t.Helper()
	c, err := p.dial(source)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

func connectFrom(source, addr string) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: patience}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// politeFrom is polite for one client of an address.
func (p *proxy) politeFrom(source string) *client {
	p.t.Helper()
	c := p.from(source)
	go func() {
		io.Copy(io.Discard, c)
		c.Close()
	}()
	return c
}

// visit connects from an address, is served, and stays to the end.
func (p *proxy) visit(source string) {
	p.t.Helper()
	c, err := p.dial(source)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer c.Close()
	if _, err := readLine(c, patience); err != nil {
		p.t.Errorf("%s is not served after %v: %v", c.LocalAddr(), time.Since(c.at), err)
		return
	}
	if how, _ := c.ends(patience); how != byFIN {
		p.t.Errorf("%s ended by %s", source, how)
	}
}
