package client

import (
	"flag"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// parsed is the Config that flags make.
func parsed(line string) (cfg Config, err error) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	cfg.Bind(fs)
	if err = fs.Parse(strings.Fields(line)); err == nil {
		err = cfg.Check()
	}
	return cfg, err
}

func TestFlags(t *testing.T) {
	cfg, err := parsed("-target 10.0.0.1:80 -work keep -flows 9 -loops 2 -request 10 -response 20 -requests 3 -think exp:5ms" +
		" -arrivals poisson:100/1s,constant:5 -patience uniform:1ms..9ms -give-up silence -read-rate 1000 -warm 1s -for 2s -drain 3s" +
		" -rate 7 -connect-timeout 4s -late 10ms -source 127.0.0.5 -sources 3 -seed 42 -watch 1,2 -total 5")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Target: netip.MustParseAddrPort("10.0.0.1:80"), Work: Keep, Direction: Down, Flows: 9, Loops: 2, Request: 10, Response: 20, Requests: 3,
		GiveUp: Silence, ReadRate: 1000, Warm: time.Second, For: 2 * time.Second, Drain: 3 * time.Second, Rate: 7,
		ConnectTimeout: 4 * time.Second, Late: 10 * time.Millisecond, Source: netip.MustParseAddr("127.0.0.5"), Sources: 3, Seed: 42, Total: 5,
	}
	if cfg.Think.String() != "exp:5ms" || cfg.Patience.String() != "uniform:1ms..9ms" || cfg.Arrivals.String() != "poisson:100/1s,constant:5" ||
		len(cfg.Watch) != 2 || cfg.Watch[1] != 2 {
		t.Errorf("%+v", cfg)
	}
	if ips := cfg.sources(); len(ips) != 3 || ips[2] != netip.MustParseAddr("127.0.0.7") {
		t.Error(ips)
	}
	cfg.Think, cfg.Patience, cfg.Arrivals, cfg.Watch = want.Think, want.Patience, want.Arrivals, nil
	if got := cfg; !equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func equal(a, b Config) bool {
	return a.Target == b.Target && a.Work == b.Work && a.Direction == b.Direction && a.Flows == b.Flows && a.Loops == b.Loops &&
		a.Request == b.Request && a.Response == b.Response && a.Requests == b.Requests && a.GiveUp == b.GiveUp && a.ReadRate == b.ReadRate &&
		a.Warm == b.Warm && a.For == b.For && a.Drain == b.Drain && a.Total == b.Total && a.Rate == b.Rate &&
		a.ConnectTimeout == b.ConnectTimeout && a.Late == b.Late && a.Source == b.Source && a.Sources == b.Sources && a.Seed == b.Seed
}

// Each mistake names the flag, its value and what is allowed.
func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"-work shrot":                           `-work "shrot": must be short, half, keep, bulk or hold`,
		"-work bulk -direction sideways":        `-direction "sideways": must be down, up or both`,
		"-direction up":                         `-direction up: needs -work bulk`,
		"-give-up shouting":                     `-give-up "shouting": must be close, reset or silence`,
		"-work hold -patience 1s":               `-patience 1s: needs -work short, half or keep`,
		"-think 1s":                             `-think 1s: needs -work keep`,
		"-requests 2":                           `-requests 2: needs -work keep`,
		"-work keep -requests -2":               `-requests -2: must be from 0 to 1000000000`,
		"-work bulk -direction up -read-rate 5": `-read-rate 5: needs work that receives`,
		"-read-rate -5":                         `-read-rate -5: must be from 0`,
		"-request 0":                            `-request 0: must be at least 1, but for -work hold`,
		"-response 0":                           `-response 0: must be at least 1, but for -work bulk and hold`,
		"-request -1 -work hold":                `-request -1: must be from 0 to 1099511627776`,
		"-flows -1":                             `-flows -1: must be from 0 to 1000000`,
		"-loops 257":                            `-loops 257: must be from 0 to 256`,
		"-rate -1":                              `-rate -1: must be from 0 to 10000000`,
		"-total -1":                             `-total -1: must be from 0`,
		"-total 1 -work bulk":                   `-total 1: needs -work short, half or keep`,
		"-for 0s":                               `-for 0s: must be more than 0, unless there is -total`,
		"-for 25h":                              `-for 25h0m0s: must be from 0s to 24h0m0s`,
		"-warm -1s":                             `-warm -1s: must be from 0s to 24h0m0s`,
		"-drain -1s":                            `-drain -1s: must be`,
		"-late -1s":                             `-late -1s: must be`,
		"-connect-timeout -1s":                  `-connect-timeout -1s: must be`,
		"-work bulk -arrivals constant:1":       `-arrivals constant:1: needs -work short, half or keep`,
		"-work keep -arrivals constant:1":       `-requests 0: must be at least 1 with -arrivals`,
		"-sources 2":                            `-sources 2: needs -source, the first address`,
		"-sources -2":                           `-sources -2: must be from 0 to 65536`,
		"-source 255.255.255.255 -sources 2":    `-sources 2: there are not so many addresses from 255.255.255.255 on`,
		"-source ::1 -target 127.0.0.1:1":       `-source ::1: must be of the same family as the target 127.0.0.1:1`,
		"-watch 0":                              `-watch 0: must be the number of a process`,
		"-watch x":                              `invalid value "x" for flag -watch: "x" is not the number of a process`,
		"-patience soon":                        `invalid value "soon" for flag -patience: span "soon" is not DURATION`,
		"-arrivals often":                       `invalid value "often" for flag -arrivals: arrivals "often": a phase is`,
		"-target here":                          `invalid value "here" for flag -target`,
	} {
		if _, err := parsed(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", line, err, want)
		}
	}
	_, err := parsed("-work keep -flows -1 -loops -1 -think 1s -direction up")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes, three lines: %v", err)
	}
}

// A target that is missing is a mistake only for who runs.
func TestTarget(t *testing.T) {
	cfg, err := parsed("-work hold")
	if err != nil {
		t.Error(err)
	}
	if _, err := Run(t.Context(), cfg, Events{}); err == nil || !strings.Contains(err.Error(), "-target is missing") {
		t.Error(err)
	}
}

func TestShares(t *testing.T) {
	c := Config{Flows: 10, Total: 23, Loops: 4}
	var flows, total int
	for i := range c.Loops {
		s := c.share(i)
		if s.Flows < 2 || s.Total < 5 {
			t.Errorf("loop %d: %+v", i, s)
		}
		flows, total = flows+s.Flows, total+s.Total
	}
	if flows != 10 || total != 23 {
		t.Error(flows, total)
	}
}
