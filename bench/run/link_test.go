package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"penstock/bench/peer"
	"penstock/bench/result"
	"penstock/bench/syn/standin"
)

// parking is the peer of a stand-in that takes its clients from a TAP device.
type parking struct{}

func (parking) Name() string                 { return result.Subject }
func (parking) Version() string              { return "" }
func (parking) Check(peer.Setup) []string    { return nil }
func (parking) Reload(peer.Setup, int) error { return nil }

func (parking) Command(s peer.Setup) ([]string, error) {
	m := s.Members[0]
	return []string{os.Args[0], "tapped", s.Tap.Device, s.Listen.String(), m.Address.String(), strconv.Itoa(m.Limit), counts(s)}, nil
}

func (p parking) Opened(s peer.Setup) bool { _, err := p.Handshakes(s); return err == nil }

func counts(s peer.Setup) string { return filepath.Join(s.Dir, "counts") }

func (parking) Handshakes(s peer.Setup) (h peer.Handshakes, err error) {
	text, err := os.ReadFile(counts(s))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	return h, err
}

// tappedWeight is what each who waits takes of memory, for a stand-in.
const tappedWeight = 16 << 10

// tappedCommand is the stand-in as a program. What it has counted it writes to a
// file, again and again.
func tappedCommand(ctx context.Context, args []string, _ io.Reader, _, _ io.Writer) error {
	limit, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	p, err := standin.New(standin.Config{Device: args[0], Address: netip.MustParseAddrPort(args[1]), Limit: limit, Answer: func(request []byte) []byte {
		return relayed(args[2], request)
	}})
	if err != nil {
		return err
	}
	go func() {
		weighed := 0
		for range time.Tick(10 * time.Millisecond) {
			waiting, _ := p.Waiting()
			for ; weighed < waiting; weighed += 64 {
				weigh(64 * tappedWeight)
			}
			text := fmt.Sprintf(`{"Begun":%d,"Parked":%d}`, p.Counts().Parked, waiting)
			os.WriteFile(args[4]+".new", []byte(text), 0o600)
			os.Rename(args[4]+".new", args[4])
		}
	}()
	p.Run(ctx)
	return nil
}

// relayed is what a server answers.
func relayed(server string, request []byte) []byte {
	c, err := net.Dial("tcp", server)
	if err != nil {
		return nil
	}
	defer c.Close()
	c.Write(request)
	response, _ := io.ReadAll(c)
	return response
}

// linked are options whose stage can have links.
func linked(t *testing.T, text string, peers ...peer.Peer) Options {
	t.Helper()
	o := options(t, text, peers...)
	if err := o.Stage.Links(); err != nil {
		t.Skip(err)
	}
	return o
}

// Sockets of the kernel reach a proxy over a TAP, over a veth, and servers
// without a proxy over a veth.
func TestLink(t *testing.T) {
	doc := played(t, linked(t, `# for tests
about   few clients over a link
proxies penstock
server  -then close -limit 2
client  x2 -work short -flows 3 -drain 1m
network link
ghosts  any
rounds  2
warm    50ms
for     300ms
metric  conn/s more
`, parking{}, faulty{fault: right}, direct(t)))
	for _, p := range doc.Cases[0].Peers {
		limited := p.Name != result.Without
		if p.Failure != "" || len(p.Rounds) != 2 || limited && !p.Verdict().Well() {
			t.Errorf("%s: %s %+v", p.Name, p.Failure, p.Verdict())
			continue
		}
		// The machine's time is known to 10 ms: a round may have had less of it.
		for _, name := range []string{"conn/s", "machine µs/conn"} {
			if got := p.Figures(name); slices.Max(got) <= 0 {
				t.Errorf("%s: %s %v", p.Name, name, got)
			}
		}
		if p.Rounds[0].Cores.Machine+p.Rounds[1].Cores.Machine <= 0 {
			t.Errorf("%s: the machine did nothing", p.Name)
		}
	}
}

// generated plays a scenario of a generator before the stand-in, and one round.
func generating(t *testing.T, lines string) *result.Peer {
	t.Helper()
	text := "# for tests\nabout a generator\nproxies penstock\nrounds 1\nnetwork link\nghosts any\nwarm 20ms\nfor 500ms\n" + lines
	p := played(t, linked(t, text, parking{})).Cases[0].Peers[0]
	if p.Failure != "" {
		t.Fatal(p.Failure)
	}
	if v := p.Verdict(); !v.Well() {
		t.Errorf("%+v", v)
	}
	return p
}

// A flood is counted by both sides. All of it has room in the device, so that
// nothing is lost of it because somebody is late.
func TestFlood(t *testing.T) {
	f := generating(t, "server -then sink -limit 1\nsyn -work flood -rate 1500\nmetric SYN/s more\nmetric lost %\n").Rounds[0].Figures
	if f["SYN/s"] <= 0 || f["SYN/s"] > 2*1500 || f["lost %"] < 0 || f["lost %"] > 20 || f["CPU µs/SYN"] <= 0 {
		t.Error(f)
	}
}

// What a proxy grows by is divided by who it says is parked.
func TestParkedHandshakes(t *testing.T) {
	f := generating(t, "server -then sink -limit 1\nsyn -work hold -flows 3000 -rate 0 -request 0\nmemory parked\nmetric B/client\n").Rounds[0].Figures
	if !weighs(f["B/client"], tappedWeight) || f["lost %"] != 0 || f["SYN/s"] <= 0 {
		t.Error(f)
	}
}

// weighs says that what was measured is this weight, and what else a proxy may need
// for a client.
func weighs(measured, weight float64) bool {
	return measured > 0.75*weight && measured < 2*weight
}

// How soon a slot is used is measured on the wire.
func TestRelease(t *testing.T) {
	p := generating(t, "server -then close -limit 2\nsyn -work short -flows 50 -drain 1m\nmetric SYN-ACK p50 µs\nmetric conn/s more\n")
	f := p.Rounds[0].Figures
	if f["conn/s"] <= 0 || f["SYN-ACK p50 µs"] <= 0 || f["SYN-ACK p99.9 µs"] < f["SYN-ACK p50 µs"] || f["first byte p50 µs"] < f["SYN-ACK p50 µs"] || f["handover p50 µs"] <= 0 {
		t.Error(f)
	}
	if p.Rounds[0].Release.Count() == 0 {
		t.Error("no histogram")
	}
}

// Nothing of a link is left when a proxy can't start.
func TestLinkIsLeft(t *testing.T) {
	o := linked(t, "# w\nabout a\nproxies penstock\nserver -then close\nclient -work short\nnetwork link\nrounds 1\nmetric conn/s more\n", broken{})
	devices := func() (all []net.Interface) {
		o.Stage.Do(func() {
			var err error
			if all, err = net.Interfaces(); err != nil {
				t.Error(err)
			}
		})
		return all
	}
	before := devices() // a kernel may have more than loopback in every network
	if p := played(t, o).Cases[0].Peers[0]; !strings.Contains(p.Failure, "unknown flag") {
		t.Errorf("%+v", p)
	}
	if now := devices(); len(now) != len(before) {
		t.Errorf("%+v, and %+v before", now, before)
	}
}
