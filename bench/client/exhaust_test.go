package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/arrival"
	"penstock/bench/server"
	"penstock/bench/tally"
)

// starving is the environment variable that makes the test binary a client with
// few descriptors: its value is the target, and the arrivals if there are any.
// Or with few ports, if it is fewPorts.
const starving = "PENBENCH_TEST_STARVE"

// enough descriptors for the runtime and a few connections.
const enough = 40

const fewPorts = "ports"

// starve is that client. It prints its result.
func starve() int {
	if os.Getenv(starving) == fewPorts {
		return starveOfPorts()
	}
	target, arrivals, _ := strings.Cut(os.Getenv(starving), " ")
	cfg := Config{
		Target: netip.MustParseAddrPort(target), Work: Short, Request: 64, Response: 64, Flows: 60, Rate: MostRate,
		For: 2 * time.Second, Drain: time.Minute,
	}
	if arrivals != "" {
		cfg.For = 200 * time.Millisecond
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

// starveOfPorts holds more connections than there are ports, in a network
// namespace of its own.
func starveOfPorts() int {
	l, err := net.Listen("tcp", "127.0.0.1:9000")
	if err = errors.Join(err, os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40009"), 0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, Config{
		Target: netip.MustParseAddrPort(l.Addr().String()), Work: Hold, Flows: 25, Rate: MostRate,
		Source: netip.MustParseAddr("127.0.0.2"), Sources: 1,
	}, Events{Standing: func(int) { cancel() }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	json.NewEncoder(os.Stdout).Encode(r)
	return 0
}

// Ten ports are ten connections; the others are lost by the client's own fault.
func TestFewPorts(t *testing.T) {
	c := exec.Command("sh", "-c", `ip link set lo up && exec "$0"`, os.Args[0])
	c.Env = append(os.Environ(), starving+"="+fewPorts)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Skipf("no network namespace of its own: %v: %s", err, out)
	}
	var r tally.Client
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := tally.Outcomes{tally.Served: 10, tally.Local: 15}
	if r.Outcomes != want || r.Cause != unix.EADDRNOTAVAIL.Error() {
		t.Errorf("%v, cause %q", r.Outcomes, r.Cause)
	}
}
