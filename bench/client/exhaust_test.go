package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/arrival"
	"penstock/bench/server"
	"penstock/bench/tally"
)

// starving is the environment variable that makes the test binary a client with
// few descriptors: its value is the target, and the arrivals if there are any.
const starving = "PENBENCH_TEST_STARVE"

// enough descriptors for the runtime and a few connections.
const enough = 40

// starve is that client. It prints its result.
func starve() int {
	target, arrivals, _ := strings.Cut(os.Getenv(starving), " ")
	cfg := Config{
		Target: netip.MustParseAddrPort(target), Work: Short, Request: 64, Response: 64, Flows: 60, Rate: MostRate,
		For: 200 * time.Millisecond, Drain: 100 * time.Millisecond,
	}
	if arrivals != "" {
		cfg.Arrivals, _ = arrival.Parse(arrivals)
	}
	limit := unix.Rlimit{Cur: enough, Max: enough}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r, err := Run(context.Background(), cfg, Events{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	json.NewEncoder(os.Stdout).Encode(r)
	return 0
}

// Without descriptors a connection is lost by the client's own fault, with the
// cause, and all goes on with those that there are.
func TestFewDescriptors(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 64, Then: server.Close, Delay: dist(t, "10ms")})
	for _, arrivals := range []string{"", "burst:60@50ms"} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), starving+"="+strings.TrimSpace(addr.String()+" "+arrivals))
		c.Stderr = os.Stderr
		out, err := c.Output()
		var r tally.Client
		if err != nil || json.Unmarshal(out, &r) != nil {
			t.Fatalf("%v: %s", err, out)
		}
		o := r.Outcomes
		if o[tally.Local] == 0 || o[tally.Served] == 0 || o[tally.Local]+o[tally.Served] != o.Sum() || r.Cause != unix.EMFILE.Error() {
			t.Errorf("arrivals %q: %v, cause %q", arrivals, o, r.Cause)
		}
		if arrivals != "" && o.Sum() != 4*60 {
			t.Errorf("%d of 240 that were due", o.Sum())
		}
	}
}
