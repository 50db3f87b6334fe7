package run

import (
	"slices"
	"strings"
	"testing"

	"penstock/bench/peer"
	"penstock/bench/result"
)

// Between two veths a proxy has clients and servers on either side; without one
// there is a single device.
func TestLinks(t *testing.T) {
	doc := played(t, linked(t, `# for tests
about   few clients, over two devices
proxies penstock
server  -then close -limit 2
client  x2 -work short -flows 3 -drain 1m
network links
ghosts  any
rounds  2
warm    50ms
for     300ms
metric  conn/s more
`, faulty{fault: right}, direct(t)))
	for _, p := range doc.Cases[0].Peers {
		limited := p.Name != result.Without
		if p.Failure != "" || len(p.Rounds) != 2 || limited && !p.Verdict().Well() {
			t.Errorf("%s: %s %+v", p.Name, p.Failure, p.Verdict())
		} else if got := p.Figures("conn/s"); slices.Max(got) <= 0 {
			t.Errorf("%s: %v", p.Name, got)
		}
	}
}

// Connections are kept through a proxy before a reflector, and others wait behind
// them: there is one slot each.
func TestKeptThroughProxy(t *testing.T) {
	haproxy, err := peer.Find("haproxy", peer.Paths{})
	if err != nil {
		t.Skip(err)
	}
	p := played(t, linked(t, `# for tests
about   connections that are kept
proxies penstock
rounds  1
network links
reflect -limit 50 -request 64 -response 256
syn     kept -work keep -flows 50 -rate 1000 -asks 2000 -drain 1m -from 198.19.0.0/24
syn     last -work hold -flows 20 -rate 1000 -request 0 -response 0 -from 198.19.1.0/24
memory  pairs parked
ghosts  any
warm    50ms
for     1s
metric  req/s more
metric  fds/pair
metric  fds/client
`, haproxy)).Cases[0].Peers[0]
	if p.Failure != "" {
		t.Fatal(p.Failure)
	}
	if v := p.Verdict(); !v.Well() {
		t.Errorf("%+v", v)
	}
	f := p.Rounds[0].Figures
	if f["carried %"] != 100 || f["req/s"] <= 0 || f["req/s"] > 2*2000 || f["fds/pair"] < 1.9 || f["CPU µs/packet"] <= 0 {
		t.Error(f)
	}
}

// A TAP on either side is moved when the proxy has opened it.
func TestTapsAreParted(t *testing.T) {
	p := played(t, linked(t, `# for tests
about   handshakes that wait, with a device behind the proxy
proxies penstock
rounds  1
network links
reflect -limit 1
syn     -work hold -flows 1000 -rate 0 -request 0 -response 0
memory  parked
ghosts  any
metric  B/client
metric  lost %
`, parking{})).Cases[0].Peers[0]
	if p.Failure != "" {
		t.Fatal(p.Failure)
	}
	if f := p.Rounds[0].Figures; f["lost %"] != 0 || !weighs(f["B/client"], tappedWeight) {
		t.Error(f)
	}
}

// A reflector that can't be is told of.
func TestReflectorFails(t *testing.T) {
	o := linked(t, "# w\nabout a\nproxies penstock\nnetwork links\nreflect far -limit 1\nsyn -work short\nrounds 1\nmetric conn/s more\n", faulty{fault: right})
	o.Scenario.Cases[0].Servers[0].Args = []string{"-response", "-1"}
	if p := played(t, o).Cases[0].Peers[0]; !strings.Contains(p.Failure, "server far: ") || !strings.Contains(p.Failure, "-response -1") {
		t.Errorf("%+v", p)
	}
}
