package monitor

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"penstock/stack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

// serve runs a server that treats each connection with f, and closes it then.
func serve(t *testing.T, f func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{}) // the listener and all connections are closed
	live := make(chan struct{}, 1000)
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				break
			}
			live <- struct{}{}
			go func() {
				defer func() { c.Close(); <-live }()
				c.SetDeadline(time.Now().Add(2 * patience))
				f(c.(*net.TCPConn))
			}()
		}
		for range cap(live) {
			live <- struct{}{}
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// answer makes a server that reads a request's first bytes and says these.
func answer(pieces ...string) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		for i, p := range pieces {
			if i > 0 {
				time.Sleep(2 * time.Millisecond) // so that they arrive apart
			}
			c.Write([]byte(p))
		}
	}
}

// hang makes a server that says nothing until the other side leaves.
func hang(c *net.TCPConn) {
	for {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
	}
}
