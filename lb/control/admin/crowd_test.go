package admin

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// door is a listener with somebody always before it.
type door struct{ net.Listener }

func (door) Accept() (net.Conn, error) {
	near, far := net.Pipe()
	far.Close()
	return near, nil
}

func (door) Close() error { return nil }

// So many are let in; the next one is when one of them leaves.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(door{}, 2)
		var in []net.Conn
		var end error
		go func() {
			for {
				conn, err := c.Accept()
				if err != nil {
					end = err
					return
				}
				in = append(in, conn)
			}
		}()
		expect := func(when string, n int) {
			t.Helper()
			if synctest.Wait(); len(in) != n {
				t.Errorf("%s: %d were let in, want %d", when, len(in), n)
			}
		}
		expect("at first", 2)
		in[0].Close()
		expect("one left", 3)
		in[0].Close()
		expect("one left twice", 3)
		c.Close()
		c.Close()
		expect("closed", 3)
		if !errors.Is(end, net.ErrClosed) {
			t.Errorf("closed while it waits for room: %v", end)
		}
	})
}

// Who connects and says nothing, or only half, does not keep others out.
func TestSilent(t *testing.T) {
	old := headerTime
	headerTime = 50 * time.Millisecond
	defer func() { headerTime = old }()
	s, c := serve(t, "127.0.0.1:0")
	var silent []net.Conn
	for range MostClients {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nX: ")
		silent = append(silent, conn)
	}
	healthy(t, c)
	for _, conn := range silent {
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Error(err)
		}
	}
}
