package server

import (
	"bytes"
	"flag"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"penstock/bench/flags"
	"penstock/bench/span"
)

// parse is what Command does with its arguments.
func parse(args []string, stderr io.Writer) (cfg Config, err error) {
	fs, _ := flags.New("server", io.Discard, stderr)
	cfg.Bind(fs)
	err = flags.Parse(fs, args, cfg.complete)
	return cfg, err
}

func TestFlags(t *testing.T) {
	var stderr bytes.Buffer
	cfg, err := parse([]string{
		"-listen", "127.0.0.1:9001", "-listen", "[::1]:9001", "-listen", ":9002", "-limit", "3", "-then", "close", "-request", "10", "-response", "20",
		"-delay", "exp:5ms", "-does", "serve 1s, stall 1s, serve", "-reset-after", "7", "-fifo", "1ms", "-seed", "9",
	}, &stderr)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	delay, _ := span.Parse("exp:5ms")
	if len(cfg.Listen) != 3 || cfg.Listen[1] != netip.MustParseAddrPort("[::1]:9001") || cfg.Listen[2] != netip.MustParseAddrPort("0.0.0.0:9002") ||
		cfg.Loops != 1 || cfg.Limit != 3 || cfg.Then != Close || cfg.Request != 10 || cfg.Response != 20 || cfg.Delay != delay ||
		cfg.Does.String() != "serve 1s, stall 1s, serve" || cfg.ResetAfter != 7 || cfg.Fifo != time.Millisecond || cfg.Seed != 9 {
		t.Errorf("%+v", cfg)
	}
}

func TestDefaults(t *testing.T) {
	var cfg Config
	fs := flag.NewFlagSet("server", flag.ContinueOnError)
	cfg.Bind(fs)
	if err := fs.Parse(nil); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Check(); err != nil || cfg.Then != Stay || cfg.Request != 64 || cfg.Response != 256 || cfg.ResetAfter != 1 || !cfg.Delay.Zero() {
		t.Errorf("%+v, %v", cfg, err)
	}
}

// Each mistake is named: the flag, the value and what is allowed.
func TestMistakes(t *testing.T) {
	for args, wants := range map[string][]string{
		"":                                           {"-listen is missing"},
		"-listen=localhost":                          {`"localhost"`, "-listen", "IP address"},
		"-listen=:1 -limit=-1 -loops=999":            {"-limit -1: 0 to 1048576", "-loops 999: 0 to 256"},
		"-listen=:1 -limit=5 -loops=2":               {"-loops 2 with -limit 5"},
		"-listen=:1 -then=vanish":                    {`-then "vanish": stay, close, stream, sink or both`},
		"-listen=:1 -request=0":                      {"-request 0: 1 to"},
		"-listen=:1 -response=0":                     {"-response 0: 1 to"},
		"-listen=:1 -response=-1 -then=stream":       {"-response -1: 0 to"},
		"-listen=:1 -does=reset -reset-after=257":    {"-reset-after 257: 0 to 256"},
		"-listen=:1 -does=reset -then=sink":          {"-does reset with -then sink"},
		"-listen=:1 -delay=1ms -then=sink":           {"-delay 1ms with -then sink"},
		"-listen=:1 -does=dance":                     {`"dance"`, "-does", "black-hole"},
		"-listen=:1 -delay=soon":                     {`"soon"`, "-delay"},
		"-listen=:1 -fifo=-1s":                       {"-fifo -1s"},
		"-listen=:1 -listen=:1":                      {"-listen 0.0.0.0:1 twice"},
		"-listen=:1 serve":                           {`"serve"`},
		"-listen=:1 -limits=3":                       {"-limits"},
		"-listen=:1 -reset-after=-1 -then=stream":    {"-reset-after -1"},
		strings.Repeat("-listen=:0 ", mostMembers+1): {"-listen 1001 times: at most 1000"},
	} {
		var stderr bytes.Buffer
		_, err := parse(strings.Fields(args), &stderr)
		if err != flags.ErrBad {
			t.Errorf("%.40q: %v", args, err)
		}
		for _, want := range wants {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%.40q says %q, want %q", args, stderr.String(), want)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	var stderr bytes.Buffer
	if _, err := parse([]string{"-h"}, &stderr); err != flag.ErrHelp || !strings.Contains(stderr.String(), "-does SCHEDULE") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
