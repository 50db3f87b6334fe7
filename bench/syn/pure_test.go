package syn

import (
	"errors"
	"flag"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"penstock/bench/flags"
	"penstock/bench/wire"
)

// Each number has a flow of its own, which leads back to it.
func TestCrowd(t *testing.T) {
	for _, from := range []string{"198.18.0.0/15", "198.19.4.0/30", "10.1.2.3/24"} {
		prefix := netip.MustParsePrefix(from)
		c := newCrowd(prefix, 1, 5)
		seen := map[wire.Flow]bool{}
		for n := range uint32(100_000) {
			if n%2 == 1 && c.hosts > 1000 {
				n *= 10_000
			}
			f := c.flow(n)
			got, ok := c.number(f)
			if !ok || got != n || !prefix.Contains(f.AddrPort().Addr()) || f.Port < firstPort {
				t.Fatalf("%s: number %d is %v, which is %d %v", from, n, f.AddrPort(), got, ok)
			}
			if a := f.AddrPort().Addr(); a == prefix.Masked().Addr() || !prefix.Contains(a.Next()) {
				t.Fatalf("%s: number %d has %v, which is no host's", from, n, a)
			}
			seen[f] = true
		}
		if strings.HasSuffix(from, "/30") && len(seen) != 100_000 {
			t.Errorf("%d different", len(seen))
		}
	}
}

func TestForeignFlows(t *testing.T) {
	c := newCrowd(netip.MustParsePrefix("198.19.0.0/16"), 1, 0)
	for _, text := range []string{"198.18.255.255:2000", "198.19.0.0:2000", "198.19.255.255:2000", "198.20.0.1:2000", "198.19.0.1:80"} {
		if n, ok := c.number(wire.FlowOf(netip.MustParseAddrPort(text))); ok {
			t.Errorf("%s is number %d", text, n)
		}
	}
}

// Strangers come from everywhere, and no two from the same place.
func TestStrangers(t *testing.T) {
	c := newCrowd(netip.MustParsePrefix("198.19.0.0/16"), 1, 0)
	seen, nets := map[wire.Flow]bool{}, map[uint32]bool{}
	const many = 500_000
	for n := range uint32(many) {
		f := c.stranger(n)
		if seen[f] {
			t.Fatalf("number %d is %v again", n, f.AddrPort())
		}
		seen[f], nets[f.IP>>8] = true, true
	}
	if len(nets) != 256 {
		t.Errorf("they are of %d networks of 256", len(nets))
	}
}

func TestSecrets(t *testing.T) {
	a, b := newCrowd(netip.MustParsePrefix("198.19.0.0/16"), 1, 0), newCrowd(netip.MustParsePrefix("198.19.0.0/16"), 2, 0)
	isn, clock := a.secrets(1)
	if i, c := a.secrets(1); i != isn || c != clock {
		t.Error("not the same again")
	}
	if i, _ := a.secrets(2); i == isn {
		t.Error("two have the same number")
	}
	if i, _ := b.secrets(1); i == isn {
		t.Error("the seed does nothing")
	}
	if c := newCrowd(netip.MustParsePrefix("198.19.0.0/16"), 1, 77); c.flow(0) == a.flow(0) {
		t.Error("two runs begin with the same")
	}
}

func TestSchedules(t *testing.T) {
	for s, want := range map[Schedule][]int{
		Linux: {1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131}, Backoff: {1, 3, 7, 15, 31, 63}, Old: {3, 9, 21, 45, 93},
	} {
		var got []int
		for _, d := range s.times() {
			got = append(got, int(d/time.Second))
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || got[len(got)-1] < 1800 {
			t.Errorf("%s: %v", s, got)
		}
	}
	if len(None.times()) > 0 {
		t.Error("none has times")
	}
}

// Each handshake is due at each of its times, once, and none before.
func TestRepeats(t *testing.T) {
	const opened, every = 50, 100 * time.Millisecond
	start := func(n uint32) int64 { return int64(n) * int64(every) }
	r := newRepeats(Linux)
	times := map[uint32][]int64{}
	for now := int64(0); now < int64(40*time.Second); now += int64(10 * time.Millisecond) {
		soonest := r.soonest(opened, start)
		for {
			n, ok := r.due(now, opened, start)
			if !ok {
				break
			}
			if soonest > now {
				t.Fatalf("number %d at %d, before the soonest, %d", n, now, soonest)
			}
			times[n] = append(times[n], now-start(n))
		}
	}
	want := []int64{1, 2, 3, 4, 5, 7, 11, 19, 35}
	for n, got := range times {
		for i, at := range got {
			if late := at - want[i]*1e9; late < 0 || late > 1e7 {
				t.Fatalf("number %d for the %dth time at %d", n, i+1, at)
			}
		}
		if n == 0 && len(got) != len(want) {
			t.Errorf("number 0 at %v", got)
		}
	}
	if len(times) != opened {
		t.Errorf("%d of %d", len(times), opened)
	}
}

// A slot is taken by who has waited for it, the oldest first.
func TestFrees(t *testing.T) {
	var f frees
	f.add(100)
	f.add(200)
	if _, ok := f.released.take(150, 300); ok {
		t.Error("taken by who came later")
	}
	for _, want := range []int64{200, 110} {
		if span, ok := f.released.take(50, want+100); !ok || span != want && span != want-100 {
			t.Error(span, ok)
		}
	}
	if _, ok := f.released.take(50, 300); ok {
		t.Error("taken twice")
	}
	if span, ok := f.served.take(50, 300); !ok || span != 200 {
		t.Error("what is released is served apart: ", span, ok)
	}
}

// Who waits costs the generator 12 bytes.
func TestSizeOfARecord(t *testing.T) {
	if n := unsafe.Sizeof(record{}); n != 12 {
		t.Errorf("%d bytes", n)
	}
}

func TestConfig(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "",
		"-work hold -flows 4000000":       "",
		"-from 198.18.0.0/15 -rate 0":     "",
		"-from 10.0.0.0/8":                "",
		"-target 198.18.0.100:80":         "",
		"-work hang":                      `-work "hang": must be hold, short, keep or flood`,
		"-work keep -asks 0":              "-asks 0: must be from 1",
		"-work keep -response 0":          "and a response are needed to ask",
		"-work short -asks 0":             "",
		"-end abort":                      "must be fin or reset",
		"-again never":                    "must be linux, backoff, old, none",
		"-leave never":                    "must be silent or reset",
		"-flows 0":                        "-flows 0: must be from 1",
		"-rate -1":                        "-rate -1",
		"-request 1401":                   "-request 1401: must be from 0 to 1400",
		"-for -1s":                        "-for -1s",
		"-from 8.8.8.0/24":                "-from 8.8.8.0/24: must be in 198.18.0.0/15, or private",
		"-from 198.0.0.0/8":               "-from 198.0.0.0/8",
		"-from 198.18.0.0/31":             "at least 4 addresses",
		"-target 8.8.8.8:80":              "-target 8.8.8.8:80: must be an address in 198.18.0.0/15",
		"-target 198.19.0.1:80":           "must not be in 198.19.0.0/16",
		"-target [fd00::1]:80":            "-target [fd00::1]:80",
		"-from 8.0.0.0/8 -flows 0 -end x": "-flows 0",
	} {
		var c Config
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		c.Bind(fs)
		if err := fs.Parse(strings.Fields(args)); err != nil {
			t.Fatal(args, err)
		}
		if err := c.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", args, err)
		}
		if err := c.complaint(); err == nil || !strings.Contains(err.Error(), "-device and -target are needed") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Each connection's turn comes once before any comes again, at the rate; who looks
// too late slips.
func TestAsks(t *testing.T) {
	for _, n := range []uint32{1, 2, 3, 6, 1000, 65536, 99991} {
		var a asks
		if a = noAsks(); a.next() != never {
			t.Error("asks from the start")
		}
		a.begin(n, 1000, 5e9)
		asked, beside := map[uint32]int{}, 0
		last := uint32(0)
		for i := range 2 * int64(n) {
			if at := a.next(); at != 5e9+i*1e6 {
				t.Fatalf("%d of %d is due at %d", i, n, at)
			}
			k, _ := a.take(a.next())
			if i == int64(n) && len(asked) != int(n) {
				t.Errorf("%d of %d have asked before one asks again", len(asked), n)
			}
			if k == last+1 {
				beside++
			}
			asked[k]++
			last = k
		}
		if n > 6 && beside > 10 {
			t.Errorf("%d: %d follow one beside them", n, beside)
		}
		at := a.next()
		if a.take(at + int64(lag) + 7); a.next() != at+1e6+7 {
			t.Errorf("%d: slipped to %d", n, a.next()-at)
		}
	}
}

func TestCommandMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "-device and -target are needed",
		"-device x":                     "are needed",
		"-nonsense":                     "nonsense",
		"extra":                         `unexpected argument "extra"`,
		"-sink veth -flows 0":           "-flows 0",
		"-sink veth -from 9.0.0.0/8 -x": "-x",
	} {
		var errs strings.Builder
		err := Command(t.Context(), strings.Fields(args), nil, io.Discard, &errs)
		if !errors.Is(err, flags.ErrBad) || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %v %s", args, err, errs.String())
		}
	}
	if err := Command(t.Context(), []string{"-h"}, nil, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}
