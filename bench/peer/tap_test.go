package peer

import (
	"net/netip"
	"strings"
	"testing"
)

// tapped is before a TAP device, with a scenario's lines for both.
func tapped(dir string) Setup {
	s := setup(dir, "")
	s.Listen = netip.MustParseAddrPort("198.18.0.100:80")
	s.Tap = &Tap{Device: "tap0", Address: netip.MustParsePrefix("198.18.0.100/15"), Congestion: "reno"}
	s.More = []string{"-virtual default,syn-proof=off", " -pool default,queue-time-limit=1s", "-max-connections 900"}
	return s
}

func TestTapFile(t *testing.T) {
	dir := t.TempDir()
	argv, err := programs["penstock"].Command(tapped(dir))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "penstock-tap", strings.Join(argv, " ")+"\n"+contents(t, dir), dir)
}

// forwarding is between two TAP devices.
func forwarding(dir string) Setup {
	s := tapped(dir)
	s.Members = []Member{{netip.MustParseAddrPort("10.18.0.2:9001"), 8}, {netip.MustParseAddrPort("10.18.0.2:9002"), 0}}
	s.Tap.Servers, s.Tap.Behind = "tap1", netip.MustParsePrefix("10.18.0.1/24")
	return s
}

func TestForwardFile(t *testing.T) {
	dir := t.TempDir()
	s := forwarding(dir)
	s.More = append(s.More, "-virtual default,snat=none,syn-share=0")
	argv, err := programs["penstock"].Command(s)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "penstock-forward", strings.Join(argv, " ")+"\n"+contents(t, dir), dir)
}

func TestForwardAccepted(t *testing.T) {
	accepted(t, peerOrBuild(t, "penstock"), forwarding(t.TempDir()))
}

func TestTapAccepted(t *testing.T) {
	p := peerOrBuild(t, "penstock")
	if _, is := p.(Tapped); !is {
		t.Error("penstock takes no clients from a TAP device")
	}
	accepted(t, p, tapped(t.TempDir()))
}

// What was dropped was not begun, unless its checksum was wrong, when it did not
// count in the first place.
func TestHandshakes(t *testing.T) {
	const text = `# HELP penstock_tap_syns_total Handshakes that clients began.
penstock_tap_syns_total{device="tap0"} 1.000003e+06
penstock_tap_parked{device="tap0"} 220629
penstock_tap_parked_limit{device="tap0"} 4.194304e+06
penstock_tap_syn_drops_total{device="tap0",reason="checksum"} 7
penstock_tap_syn_drops_total{device="tap0",reason="full"} 2
penstock_tap_syn_drops_total{device="tap0",reason="share"} 1
`
	if h, err := handshakes(text); err != nil || h != (Handshakes{Begun: 1_000_000, Parked: 220_629}) {
		t.Errorf("%+v %v", h, err)
	}
	if h, err := handshakes("penstock_up 1\n"); err == nil {
		t.Errorf("%+v of nothing", h)
	}
	if (penstock{}).Opened(Setup{Dir: t.TempDir()}) {
		t.Error("nobody has opened anything")
	}
	if _, err := (penstock{}).Handshakes(Setup{Dir: t.TempDir()}); err == nil {
		t.Error("nobody was asked")
	}
}
