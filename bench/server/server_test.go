package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"penstock/bench/sock"
	"penstock/bench/span"
)

func TestMain(m *testing.M) {
	before := descriptors()
	code := m.Run()
	if code == 0 {
		if err := left(before); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// left are goroutines and descriptors that have not ended a good while after the
// last test.
func left(before int) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := goleak.Find()
		if n := descriptors(); err == nil && n > before {
			err = fmt.Errorf("%d descriptors are left open", n-before)
		}
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	n := 0
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestShort(t *testing.T) {
	for _, loops := range []int{1, 3} {
		r := start(t, Config{Loops: loops, Request: 10, Response: 1000, Then: Close})
		for i := range int64(100) {
			c := r.dial(0)
			send(t, c, request(10, i))
			response(t, c, 1000, i)
			over(t, c)
			c.Close()
		}
		sum := r.end()
		m := sum.Members[0]
		if m.Accepted != 100 || m.Open != 0 || m.MaxOpen < 1 || sum.Requests != 100 || sum.Sent != 100_000 || sum.Received != 1000 {
			t.Errorf("%+v", sum)
		}
	}
}

func TestKeepEchoesEachToken(t *testing.T) {
	// Messages larger than any buffer: both ends stop in the middle and go on.
	for _, size := range [][2]int{{8, 8}, {64, 256}, {receiveMost, 100}, {receiveMost + 8, 100}, {9 << 20, 7 << 20}} {
		r := start(t, Config{Request: size[0], Response: size[1]})
		c := r.dial(0)
		for i := int64(1); i < 6; i++ {
			go send(t, c, request(size[0], i))
			response(t, c, size[1], i)
		}
		c.Close()
		r.untilOpen(0)
		if sum := r.end(); sum.Requests != 5 || sum.Sent != int64(5*size[1]) || sum.Received != int64(5*size[0]) {
			t.Errorf("%v: %+v", size, sum)
		}
	}
}

// A token and a request may come in pieces, and several requests at once.
func TestPieces(t *testing.T) {
	r := start(t, Config{Request: 20, Response: 30})
	r.Count()
	c := r.dial(0)
	for _, b := range request(20, 77) {
		send(t, c, []byte{b})
	}
	response(t, c, 30, 77)
	send(t, c, bytes.Repeat(request(20, 78), 3))
	for range 3 {
		response(t, c, 30, 78)
	}
	c.Close()
	r.untilOpen(0)
	if sum := r.end(); sum.Requests != 4 || sum.Order.Tokens != 1 || sum.Wait.Count() != 1 {
		t.Errorf("%+v", sum)
	}
}

// A request or a response without room for a token is no error.
func TestWithoutTokens(t *testing.T) {
	r := start(t, Config{Request: 1, Response: 3})
	r.Count()
	c := r.dial(0)
	for range 3 {
		send(t, c, []byte{1})
		if _, err := io.ReadFull(c, make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if sum := r.end(); sum.Requests != 3 || sum.Order.Tokens != 0 || sum.Wait.Count() != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestMembers(t *testing.T) {
	other := netip.MustParseAddrPort("[::1]:0")
	if l, err := net.Listen("tcp", other.String()); err == nil {
		l.Close()
	} else {
		other = anyPort // a machine without IPv6
	}
	r := start(t, Config{Listen: []netip.AddrPort{anyPort, other, anyPort}, Request: 8, Response: 8})
	for i, n := range []int{3, 1, 2} {
		for range n {
			c := r.dial(i)
			send(t, c, request(8, 5))
			response(t, c, 8, 5)
		}
	}
	sum := r.end()
	for i, n := range []int64{3, 1, 2} {
		m := sum.Members[i]
		if m.Accepted != n || m.Open != n || m.MaxOpen != n || m.Address != r.Addresses()[i].String() {
			t.Errorf("member %d: %+v", i, m)
		}
	}
}

func TestHalfClose(t *testing.T) {
	for _, cfg := range []Config{
		{Then: Stay, Request: 10, Response: 5 << 20},
		{Then: Close, Request: 10, Response: 5 << 20},
		{Then: Stay, Request: 10, Response: 100, Delay: span.Always(20 * time.Millisecond)},
	} {
		r := start(t, cfg)
		c := r.dial(0)
		send(t, c, request(10, 9))
		c.CloseWrite()
		response(t, c, cfg.Response, 9)
		over(t, c)
		r.untilOpen(0)
		if m := r.end().Members[0]; m.Ghosts != 0 || m.Resets != 0 {
			t.Errorf("%+v", m)
		}
	}
}

// An end inside a request, or behind the response, ends the connection.
func TestEndWithoutARequest(t *testing.T) {
	r := start(t, Config{Request: 10, Response: 10})
	c := r.dial(0)
	send(t, c, request(10, 3))
	response(t, c, 10, 3)
	send(t, c, []byte{1, 2})
	c.CloseWrite()
	over(t, c)
	r.untilOpen(0)
	if m := r.end().Members[0]; m.Ghosts != 0 {
		t.Errorf("%+v", m)
	}
}

// A client that resets while its response is prepared frees its slot at once.
func TestResetInTheDelay(t *testing.T) {
	r := start(t, Config{Request: 10, Response: 10, Delay: span.Always(time.Hour)})
	for _, half := range []bool{false, true} {
		c := r.dial(0)
		send(t, c, request(10, 3))
		if half {
			c.CloseWrite()
		}
		r.untilOpen(1)
		c.SetLinger(0)
		c.Close()
		r.untilOpen(0)
	}
	if sum := r.end(); sum.Requests != 2 || sum.Members[0].Resets != 2 || sum.Members[0].Ghosts != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestDelay(t *testing.T) {
	const delay = 30 * time.Millisecond
	r := start(t, Config{Request: 10, Response: 10, Delay: span.Always(delay), Then: Close})
	began := time.Now()
	var conns []net.Conn
	for i := range int64(10) {
		conns = append(conns, r.dial(0))
		send(t, conns[i], request(10, i))
	}
	for i, c := range conns {
		response(t, c, 10, int64(i))
		over(t, c)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("all answered in %v", took)
	}
}

func TestStream(t *testing.T) {
	r := start(t, Config{Request: 8, Then: Stream})
	a, b := r.dial(0), r.dial(0)
	send(t, a, request(8, 1))
	send(t, b, request(8, 1))
	for _, c := range []net.Conn{a, b} { // neither starves
		if _, err := io.CopyN(io.Discard, c, 20<<20); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	r.untilOpen(0)
	if sum := r.end(); sum.Sent < 40<<20 || sum.Requests != 2 {
		t.Errorf("%+v", sum)
	}
}

func TestSink(t *testing.T) {
	r := start(t, Config{Request: 8, Then: Sink})
	c := r.dial(0)
	send(t, c, request(8, 1))
	send(t, c, make([]byte, 20<<20))
	c.CloseWrite()
	over(t, c)
	if sum := r.end(); sum.Received != 8+20<<20 || sum.Sent != 0 || sum.Requests != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestBoth(t *testing.T) {
	r := start(t, Config{Request: 8, Then: Both})
	const size = 100 << 20
	c := r.dial(0)
	var sending sync.WaitGroup
	sending.Go(func() { send(t, c, make([]byte, size)) })
	if _, err := io.CopyN(io.Discard, c, size); err != nil {
		t.Fatal(err)
	}
	sending.Wait()
	c.Close()
	r.untilOpen(0)
	// What is under way at the end, in either direction, is lost by the reset.
	if sum := r.end(); sum.Received < size/3 || sum.Sent < size || sum.Requests != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestGhosts(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8})
	for i := range 20 {
		c := r.dial(0)
		if i%4 == 0 {
			c.SetLinger(0) // a reset
		}
		c.Close()
	}
	c := r.dial(0) // no ghost: a byte
	send(t, c, []byte{1})
	r.untilAccepted(21)
	c.Close()
	r.untilOpen(0)
	r.dial(0) // no ghost: still there
	r.untilOpen(1)
	if m := r.end().Members[0]; m.Ghosts != 20 || m.Resets != 5 || m.Open != 1 || m.Accepted != 22 {
		t.Errorf("%+v", m)
	}
}

func TestAddressInUse(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	at := netip.MustParseAddrPort(busy.Addr().String())
	_, err = Listen(Config{Listen: []netip.AddrPort{anyPort, at}, Request: 1, Response: 1})
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), at.String()) {
		t.Error(err)
	}
}

// Without descriptors the server neither ends nor spins, and goes on when
// there are some.
func TestNoDescriptor(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall 1h, serve")})
	var conns []net.Conn
	for range 3 {
		conns = append(conns, r.dial(0))
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	none := syscall.Rlimit{Cur: lowestFree(t), Max: was.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	r.skew.Store(int64(time.Hour)) // no forward: after a fatal error all would be starved
	starved := &r.members[0].starved
	for end := began.Add(patience); starved.Load() < 3 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	times := starved.Load()
	took := time.Since(began)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if times < 3 || times > int64(took/fast)+1 {
		t.Errorf("tried %d times in %v", times, took)
	}
	r.untilAccepted(3)
	for i, c := range conns {
		send(t, c, request(8, int64(i)))
		response(t, c, 8, int64(i))
	}
	if m := r.end().Members[0]; m.Starved < times {
		t.Errorf("%+v", m)
	}
}

// lowestFree is the descriptor that the next socket would have.
func lowestFree(t *testing.T) uint64 {
	t.Helper()
	fd, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
	return uint64(fd)
}

// Two servers don't share an address unasked, as loops of one do.
func TestAddressOfAnotherServer(t *testing.T) {
	r := start(t, Config{Loops: 2, Request: 8, Response: 8})
	if _, err := Listen(Config{Listen: r.Addresses(), Request: 8, Response: 8}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Error(err)
	}
}

// Clients that come as fast as they are served keep a loop neither from its
// other work nor from its end.
func TestMoreThanATurn(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Then: Close, Does: schedule(t, "stall 1h, serve")})
	p := newProber(t, r)
	const n = 3*acceptMost + 1
	var fds []int
	for range n {
		fds = append(fds, p.connect(nil))
	}
	r.forward(time.Hour)
	r.untilAccepted(n)
	for _, fd := range fds {
		sock.Cut(fd)
	}
	r.untilOpen(0)
}
