package server

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"penstock/bench/tally"
)

// patience is how long what must happen may take: longer is no work but a hang.
const patience = time.Minute

var anyPort = netip.MustParseAddrPort("127.0.0.1:0")

// rig is a server that runs for the length of a test.
type rig struct {
	*Server
	t    *testing.T
	stop context.CancelFunc
	done chan tally.Server
}

func start(t *testing.T, cfg Config) *rig {
	t.Helper()
	if len(cfg.Listen) == 0 {
		cfg.Listen = []netip.AddrPort{anyPort}
	}
	srv, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &rig{srv, t, stop, make(chan tally.Server, 1)}
	go func() {
		defer close(r.done)
		sum, err := srv.Serve(ctx)
		if err != nil {
			t.Error(err)
		}
		r.done <- sum
	}()
	t.Cleanup(func() { stop(); <-r.done })
	return r
}

// end ends the server and returns what it has seen.
func (r *rig) end() tally.Server {
	r.stop()
	return <-r.done
}

// dial connects to a member.
func (r *rig) dial(member int) *net.TCPConn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.Addresses()[member].String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// until waits for what the server does by itself.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("not %s in %v", what, patience)
		}
	}
}

// forward puts the schedule's clock forward to a time at which it does otherwise, and
// returns when all loops do.
func (r *rig) forward(to time.Duration) {
	r.t.Helper()
	before := r.turned.Load()
	r.skew.Store(int64(to) - (r.clock.Now() - r.began))
	r.until("otherwise", func() bool { return r.turned.Load() == before+int64(len(r.loops)) })
}

func (r *rig) untilOpen(n int64) {
	r.t.Helper()
	r.until(fmt.Sprint(n, " open"), func() bool { open, _ := r.Now(); return open == n })
}

func (r *rig) untilAccepted(n int64) {
	r.t.Helper()
	r.until(fmt.Sprint(n, " accepted"), func() bool { _, accepted := r.Now(); return accepted == n })
}

// request is one with a token.
func request(size int, token int64) []byte {
	b := make([]byte, size)
	binary.BigEndian.PutUint64(b, uint64(token))
	return b
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Error(err)
	}
}

// response receives one of a size, and checks its token.
func response(t *testing.T, c net.Conn, size int, token int64) {
	t.Helper()
	b := make([]byte, size)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	if got := int64(binary.BigEndian.Uint64(b)); got != token {
		t.Errorf("the response is to %d, not to %d", got, token)
	}
}

// over checks that a connection ends in order, and without more.
func over(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d more bytes, %v; want the end", n, err)
	}
}
