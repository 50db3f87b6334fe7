package proxy

import (
	"bytes"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// C45: all bytes, then FIN, however slow the reader and however soon the
// server closes.
func TestC45SlowReader(t *testing.T) {
	const size = 8 << 20
	s := serve(t, func(c *net.TCPConn) { io.Copy(c, stream(45, size)) })
	r := start(t, member(s.addr(), 0), halfClose(patience))
	c := r.dial()
	wantStream(t, &slowly{Reader: c, piece: 1 << 20, pause: 100 * time.Millisecond}, 45, size)
	c.Close()
	if e := r.wantEnd(ServerEnd); e.Down != size {
		t.Errorf("%+v", e)
	}
}

// C47: segments of 1448 bytes fill a pipe's slots before its bytes: a pipe
// that is full is not a socket that is empty. Reduced from 100 runs of 64 MiB.
func TestC47FullPipe(t *testing.T) {
	const size = 24 << 20
	s := serve(t, func(c *net.TCPConn) {
		src := stream(47, size)
		b := make([]byte, 1448)
		for {
			n, err := io.ReadFull(src, b)
			if n > 0 {
				if _, err := c.Write(b[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	r := start(t, member(s.addr(), 0))
	c := r.dial()
	begun := time.Now()
	wantStream(t, &slowly{Reader: c, piece: 1 << 20, pause: 20 * time.Millisecond}, 47, size)
	if d := time.Since(begun); d > patience/2 {
		t.Errorf("it took %v", d)
	}
}

// C49: what the other side does not read is not read: memory stays, and the
// sender blocks. Either way round, and while parked.
func TestC49StalledReader(t *testing.T) {
	const offered = 400 << 20
	for _, name := range []string{"server stalls", "client stalls", "parked"} {
		t.Run(name, func(t *testing.T) {
			s := hold(t)
			r := start(t, member(s.addr(), 1))
			sender := r.dial()
			server := s.next(t)
			switch name {
			case "client stalls":
				sender = server
			case "parked":
				sender = r.park()
			}
			runtime.GC()
			before := resident(t)
			b := make([]byte, 64<<10)
			sent := int64(0)
			for sent < offered {
				sender.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)) // how long a sender must block
				n, err := sender.Write(b)
				sent += int64(n)
				if err != nil {
					if !os.IsTimeout(err) {
						t.Fatal(err)
					}
					break
				}
			}
			if sent >= offered {
				t.Errorf("all of %d bytes were taken", sent)
			}
			if grown := resident(t) - before; grown > 4<<20 {
				t.Errorf("memory grew by %d bytes", grown)
			}
			t.Logf("%d bytes were taken", sent)
			if name == "parked" && (sent > 8<<20 || r.parked() != 1) {
				t.Errorf("%d bytes taken from a parked client, %d are parked", sent, r.parked())
			}
		})
	}
}

// resident returns the process's resident memory.
func resident(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(string(bytes.Fields(b)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n * int64(os.Getpagesize())
}
