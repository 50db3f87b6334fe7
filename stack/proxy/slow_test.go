package proxy

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// C45: all bytes, then FIN, however slow the reader and however soon the
// server closes.
func TestC45SlowReader(t *testing.T) {
	const size = 8 << 20
	s := serve(t, func(c *net.TCPConn) {
		io.Copy(c, stream(45, size))
	})
	r := start(t, member(s.addr(), 0), halfClose(never))
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
				break
			}
		}
	})
	r := start(t, member(s.addr(), 0))
	c := r.dial()
	begun := time.Now()
	wantStream(t, &slowly{Reader: c, piece: 1 << 20, pause: 20 * time.Millisecond}, 47, size)
	if d := time.Since(begun); d > patience {
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
			before := private(t)
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
			// The heap has its own reasons to grow by some MiB just now; a proxy that
			// reads on has all that is offered.
			if grown := private(t) - before; grown > offered/8 {
				t.Errorf("memory grew by %d bytes", grown)
			}
			t.Logf("%d bytes were taken", sent)
			if name == "parked" && (sent > 8<<20 || r.parked() != 1) {
				t.Errorf("%d bytes taken from a parked client, %d are parked", sent, r.parked())
			}
		})
	}
}

// private returns the process's resident memory, without that of files: of its
// own program more is read in as it is run.
func private(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident, shared int64
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared); err != nil {
		t.Fatal(err)
	}
	return (resident - shared) * int64(os.Getpagesize())
}
