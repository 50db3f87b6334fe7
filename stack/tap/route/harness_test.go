package route

import (
	"net/netip"
	"testing"

	"penstock/stack/leak"
	"penstock/stack/tap/frame"
)

func TestMain(m *testing.M) { leak.Main(m) }

const (
	ms     = int64(1e6)
	second = int64(1e9)
)

var (
	own  = frame.MAC{2, 0, 0, 0, 0, 1}
	host = frame.MAC{2, 0, 0, 0, 0, 2}
	next = frame.MAC{2, 0, 0, 0, 0, 3}

	us     = prefixes("198.18.5.1/24", "2001:db8:5::1/64")
	server = addr("198.18.5.2")
	serv6  = addr("2001:db8:5::2")
)

func addr(s string) frame.Addr { return netip.MustParseAddr(s).As16() }

func prefixes(list ...string) (all []netip.Prefix) {
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// numbered returns the i-th address of 10.0.0.0/8.
func numbered(i int) (a frame.Addr) {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).As16()
}

// question is what a frame asks.
type question struct {
	target, from frame.Addr
	to           frame.MAC // Broadcast, or who is asked
}

// read returns what a frame of ours asks.
func read(t testing.TB, b []byte) question {
	t.Helper()
	to := frame.MAC(b[:6])
	if a, ok := frame.ParseARP(b); ok && a.Op == frame.ARPRequest && a.Sender == own {
		return question{a.TargetIP, a.SenderIP, to}
	}
	n, ok := frame.ParseNeighbor(b)
	if !ok || n.Advert || n.Link != own {
		t.Fatalf("not a question: %x", b)
	}
	if to.Group() {
		to = frame.Broadcast
	}
	return question{n.Target, n.Src, to}
}

// asks expects that a hop's question is due, and to whom it goes.
func asks(t *testing.T, r *Table, n uint16, now int64, to frame.MAC) (due int64) {
	t.Helper()
	b, due := r.Ask(n, now, nil)
	if len(b) == 0 {
		t.Fatalf("at %d ms nobody is asked", now/ms)
	}
	if q := read(t, b); q.to != to {
		t.Fatalf("at %d ms %v is asked, not %v", now/ms, q.to, to)
	}
	return due
}

// quiet expects that no question is due.
func quiet(t *testing.T, r *Table, n uint16, now int64) (due int64) {
	t.Helper()
	b, due := r.Ask(n, now, nil)
	if len(b) != 0 {
		t.Fatalf("at %d ms somebody is asked: %+v", now/ms, read(t, b))
	}
	return due
}

// is expects what is known of a hop.
func is(t *testing.T, r *Table, n uint16, now int64, mac frame.MAC, failed bool) {
	t.Helper()
	if m, ok := r.MAC(n, now); m != mac || ok != (mac != frame.MAC{}) {
		t.Fatalf("at %d ms it is at %v, %v; want %v", now/ms, m, ok, mac)
	}
	if f := r.Failed(n, now); f != failed {
		t.Fatalf("at %d ms it has failed: %v", now/ms, f)
	}
}

// one is a table with one hop, the server.
func one(t *testing.T) (*Table, uint16) {
	t.Helper()
	r := New(Config{Own: us, MAC: own})
	n, ok := r.Hop(&server)
	if !ok || n != 1 {
		t.Fatal(n, ok)
	}
	return r, n
}
