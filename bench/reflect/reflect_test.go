package reflect

import (
	"context"
	"flag"
	"net/netip"
	"strings"
	"testing"
	"time"

	"penstock/bench/flags"
	"penstock/bench/syn"
	"penstock/bench/tally"
	"penstock/bench/wire"
	"penstock/bench/wire/nettest"
)

var address = netip.MustParseAddrPort("198.18.0.2:80")

// config reads flags as they are given.
func config(t *testing.T, args string) (c Config) {
	t.Helper()
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	c.Bind(fs)
	if err := fs.Parse(strings.Fields("-device other -listen 198.18.0.2:80 " + args)); err != nil {
		t.Fatal(err)
	}
	return c
}

// serve runs one at the other end of a link, whose own end is "one".
func serve(t *testing.T, args string) (stop func() (tally.Server, error)) {
	t.Helper()
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	r, err := Listen(config(t, args))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	type end struct {
		sum tally.Server
		err error
	}
	done := make(chan end, 1)
	go func() {
		sum, err := r.Serve(ctx)
		done <- end{sum, err}
	}()
	return func() (tally.Server, error) {
		cancel()
		e := <-done
		return e.sum, e.err
	}
}

// Thousands are connected; then each asks, and is answered.
func TestKept(t *testing.T) {
	stop := serve(t, "-limit 2000")
	var c syn.Config
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	c.Bind(fs)
	fs.Parse(strings.Fields("-device one -target 198.18.0.2:80 -work keep -flows 2000 -rate 40000 -asks 10000 -warm 50ms -for 2s"))
	stood := 0
	saw, err := syn.Run(t.Context(), c, syn.Events{Standing: func(n int) { stood = n }})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := stop()
	if err != nil {
		t.Error(err)
	}
	h, m := saw.Handshakes, sum.Members[0]
	served := saw.Outcomes[tally.Served]
	if stood != 2000 || h.Stood != 2000 || h.Carried != 2000 || m.Accepted != 2000 || m.Open != 2000 || m.MaxOpen != 2000 || m.Overshoots != 0 {
		t.Errorf("%d stood, %+v, %+v", stood, h, m)
	}
	if served < 2000 || served > 21_000 || saw.Outcomes.Sum() != served || uint64(sum.Requests) < served {
		t.Errorf("%+v, and the server: %d", saw.Outcomes, sum.Requests)
	}
	// Three segments each, but for the requests that were under way when counting
	// began or ended: if the machine stalls, one on each connection.
	const underway = 3 * 2000
	if h.Bad != 0 || h.Segments+underway < 3*served || h.Segments > 3*served+underway || saw.Latency.Count() != int64(served) {
		t.Errorf("%+v of %d requests", h, served)
	}
}

// raw is a client that writes each frame by hand.
type raw struct {
	t      *testing.T
	tx     *wire.Sender
	rx     *wire.Receiver
	scribe *wire.Scribe
	own    wire.Flow
}

func newRaw(t *testing.T) *raw {
	t.Helper()
	c := &raw{t: t, own: wire.Flow{IP: 0xc6130005, Port: 4321}}
	port, err := wire.Find("one")
	if err != nil {
		t.Fatal(err)
	}
	to, err := wire.Resolve(port, c.own.AddrPort().Addr(), address.Addr(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.scribe = wire.NewScribe(port.MAC, to)
	if c.tx, err = wire.NewSender(port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.tx.Close)
	if c.rx, err = wire.NewReceiver(port, wire.ToTCP(c.own.AddrPort().Addr()), 64); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.rx.Close)
	return c
}

// send sends a segment to a port of the reflector's.
func (c *raw) send(port uint16, s wire.Segment, payload string, spoil byte) {
	c.t.Helper()
	s.From, s.To = c.own, wire.FlowOf(netip.AddrPortFrom(address.Addr(), port))
	b := c.tx.Next(s.Size() + len(payload))
	copy(b[s.Size():], payload)
	c.scribe.Write(b, &s)
	b[len(b)-1] += spoil
	if err := c.tx.Flush(); err != nil {
		c.t.Fatal(err)
	}
}

// heard is the answer, whose checksums must be right.
func (c *raw) heard() (h wire.Heard) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); c.rx.Wait(time.Second) {
		if b, _, ok := c.rx.Next(); ok {
			h, ok = wire.Read(b)
			if !ok || h.Length == len(h.Payload) && !wire.Sound(b) {
				c.t.Errorf("%x", b)
			}
			return h
		}
	}
	c.t.Fatal("no answer")
	return h
}

func (c *raw) answered(flags byte, seq, ack uint32, length int) wire.Heard {
	c.t.Helper()
	h := c.heard()
	if h.Flags != flags || h.Seq != seq || h.Ack != ack || h.Length != length {
		c.t.Errorf("%+v, want flags %#x, %d, %d, %d bytes", h, flags, seq, ack, length)
	}
	return h
}

// A connection's life, one segment after the other; and what has none.
func TestSegments(t *testing.T) {
	const request = "0123456789"
	stop := serve(t, "-request 10 -response 30")
	c := newRaw(t)
	const first = 1<<32 - 5 // so that numbers wrap
	c.send(80, wire.Segment{Seq: first, Flags: wire.SYN, Stamp: 7}, "", 0)
	h := c.heard()
	if h.Flags != wire.SYN|wire.ACK || h.Ack != first+1 || !h.Stamped {
		t.Fatalf("%+v", h)
	}
	seq, ack := h.Ack, h.Seq+1
	c.send(80, wire.Segment{Seq: seq, Ack: ack, Flags: wire.ACK}, "", 0)
	for range 3 {
		c.send(80, wire.Segment{Seq: seq, Ack: ack, Flags: wire.ACK | wire.PSH}, request, 0)
		h := c.answered(wire.ACK|wire.PSH, ack, seq+10, 30)
		if string(h.Payload[:8]) != request[:8] {
			t.Errorf("%q", h.Payload)
		}
		seq, ack = seq+10, ack+30
		c.send(80, wire.Segment{Seq: seq, Ack: ack, Flags: wire.ACK}, "", 0)     // of the response
		c.send(80, wire.Segment{Seq: seq - 1, Ack: ack, Flags: wire.ACK}, "", 0) // are you there?
		c.answered(wire.ACK, ack, seq, 0)
	}
	c.send(80, wire.Segment{Seq: seq, Ack: ack, Flags: wire.ACK | wire.FIN}, "", 0)
	c.answered(wire.ACK|wire.FIN, ack, seq+1, 0)
	c.send(80, wire.Segment{Seq: seq + 1, Ack: ack + 1, Flags: wire.ACK}, "", 0)

	c.send(80, wire.Segment{Seq: 100, Flags: wire.SYN, Stamp: 7}, "", 1) // a wrong checksum
	c.send(80, wire.Segment{Seq: 200, Flags: wire.SYN, Stamp: 7}, "", 0)
	h = c.heard()
	c.send(80, wire.Segment{Seq: 201, Ack: h.Seq + 1, Flags: wire.ACK}, "", 0)
	for range 2 {
		c.send(80, wire.Segment{Seq: 201, Flags: wire.RST}, "", 0)
	}
	c.send(80, wire.Segment{Seq: 200, Ack: h.Seq + 1, Flags: wire.ACK}, "", 0)
	c.answered(wire.RST, h.Seq+1, 0, 0)

	c.send(81, wire.Segment{Seq: 300, Flags: wire.SYN, Stamp: 7}, "", 0)
	c.answered(wire.RST|wire.ACK, 0, 301, 0)
	c.send(81, wire.Segment{Seq: 300, Ack: 77, Flags: wire.ACK}, "", 0)
	c.answered(wire.RST, 77, 0, 0)

	sum, err := stop()
	m := sum.Members[0]
	if m.Accepted != 2 || m.Open != 0 || m.MaxOpen != 1 || m.Resets != 1 || sum.Requests != 3 || sum.Received != 30 || sum.Sent != 90 {
		t.Errorf("%+v %+v", sum, m)
	}
	if err == nil || !strings.Contains(err.Error(), "1 frames had a wrong checksum") {
		t.Error(err)
	}
}

// Without a response there is an acknowledgement, and who is one too many is
// found.
func TestLimit(t *testing.T) {
	stop := serve(t, "-response 0 -limit 1")
	c := newRaw(t)
	for _, port := range []uint16{5000, 5001} {
		c.own.Port = port
		c.send(80, wire.Segment{Seq: 9, Flags: wire.SYN, Stamp: 7}, "", 0)
		h := c.heard()
		c.send(80, wire.Segment{Seq: 10, Ack: h.Seq + 1, Flags: wire.ACK}, "", 0)
		c.send(80, wire.Segment{Seq: 10, Ack: h.Seq + 1, Flags: wire.ACK}, "x", 0)
		c.answered(wire.ACK, h.Seq+1, 11, 0)
	}
	sum, err := stop()
	if m := sum.Members[0]; err != nil || m.Overshoots != 1 || len(m.First) != 1 || m.First[0].Open != 2 || m.Open != 2 {
		t.Errorf("%+v %v", m, err)
	}
}

func TestMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"-device x":                                            "-device and -listen are needed",
		"-device x -listen 8.8.8.8:80":                         "-listen 8.8.8.8:80: must be an address in 198.18.0.0/15",
		"-device x -listen 10.0.0.1:0":                         "and a port",
		"-device x -listen 10.0.0.1:1 -request 0":              "-request 0: must be from 1 to 1400",
		"-device x -listen 10.0.0.1:1 -limit -1":               "-limit -1: must be from 0",
		"-device x -listen 10.0.0.1:1 -request 9 -response 10": "-response 10: must differ by 2",
		"-device x -listen 10.0.0.1:1 more":                    `unexpected argument "more"`,
	} {
		var said strings.Builder
		err := Command(t.Context(), strings.Fields(args), strings.NewReader(""), &said, &said)
		if err != flags.ErrBad || !strings.Contains(said.String(), want) {
			t.Errorf("%s: %v %q, want %q", args, err, said.String(), want)
		}
	}
}

// It is asked as servers are.
func TestCommand(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	err := Command(ctx, strings.Fields("-device other -listen 198.18.0.2:80"), strings.NewReader(""), &out, t.Output())
	if got := out.String(); err != nil || !strings.HasPrefix(got, "{\"listening\":[\"198.18.0.2:80\"]}\n") || !strings.Contains(got, `"accepted":0`) {
		t.Error(err, got)
	}
}
