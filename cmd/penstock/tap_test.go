package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
)

// inNetwork runs a test again in a process with a network of its own, which
// ends with it, and says false here.
func inNetwork(t *testing.T) bool {
	t.Helper()
	const again = "PENSTOCK_TEST_IN_NETWORK"
	if os.Getenv(again) == t.Name() {
		return true
	}
	if _, err := os.Stat("/dev/net/tun"); os.Getuid() != 0 || err != nil {
		t.Skip("needs root, for a network namespace, and /dev/net/tun")
	}
	c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), again+"="+t.Name())
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func command(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// link makes a device with this host on its other side.
func link(t *testing.T) {
	t.Helper()
	for _, line := range []string{
		"ip link set lo up", "ip tuntap add dev tap0 mode tap multi_queue",
		"ip addr add 198.18.0.1/24 dev tap0", "ip link set tap0 up",
	} {
		command(t, line)
	}
}

// Virtual servers on the device come, change and go while it runs.
func TestTapReload(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	link(t)
	s := server(t)
	base := "-tap tap0,syn-table=1K\n-loops 2\n-pool app,monitor=none,queue-depth-cap=none\n-member " + s + ",pool=app,connection-limit=1\n" +
		"-virtual old,listen=127.0.0.1:0,pool=app\n"
	web := "-virtual web,listen=198.18.0.100:80,pool=app,front=tap"
	r := rigged(t, base, nil)
	api := admin.Handler(view{r.proxy, r.disp, r.control}, r.control)
	shows(t, api, "/v1/tap", `"virtuals": \[(.*)\]`, "")

	r.reload(base + web + "\n")
	if got := r.proxy.Listening(r.Config().Virtuals[1].ID).String(); got != "198.18.0.100:80" {
		t.Errorf("it is said to listen on %s", got)
	}
	first := r.dial(1)
	expect(t, first, "hello")
	parked := make(chan error, 1)
	go func() {
		c, err := net.DialTimeout("tcp", "198.18.0.100:80", patience)
		if err == nil {
			defer c.Close()
		}
		parked <- err
	}()
	until(t, func() bool { return r.proxy.TapTotals().Parked == 1 }, "a handshake is parked")
	shows(t, api, "/v1/tap", `"up": (\w+)`, "true")
	shows(t, api, "/v1/tap", `"parked": (\d+)`, "1")
	shows(t, api, "/v1/tap", `"limit": (\d+)`, "2048")
	shows(t, api, "/v1/pools/app", `"depth": (\d+)`, "1")
	shows(t, api, "/v1/waiters", `"client": "(198.18.0.1):\d+"`, "198.18.0.1")
	shows(t, api, "/metrics", `penstock_tap_parked{device="tap0"} (\d+)`, "1")
	first.Close()
	if err := <-parked; err != nil {
		t.Errorf("released: %v", err)
	}

	until(t, func() bool { return r.disp.Pool(0).InUse == 0 }, "the slot is free")
	r.setPool("app", "queue-on-connection-limit", "off")
	busy := r.dial(0)
	expect(t, busy, "hello")
	refused(t, "at first", syscall.ECONNREFUSED)
	r.reload(strings.Replace(base, "queue-depth-cap=none", "queue-on-connection-limit=off", 1) + web + ",refuse=drop\n")
	refused(t, "with refuse=drop", os.ErrDeadlineExceeded)
	busy.Close()

	r.reload(base)
	refused(t, "when it is gone", syscall.ECONNREFUSED)
	r.reload(base + web + "\n")
	r.visit(1)
}

// refused connects, and expects an error.
func refused(t *testing.T, when string, want error) {
	t.Helper()
	within := patience
	if want == os.ErrDeadlineExceeded {
		within = 500 * time.Millisecond
	}
	c, err := net.DialTimeout("tcp", "198.18.0.100:80", within)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, want) && !(os.IsTimeout(err) && os.IsTimeout(want)) {
		t.Errorf("%s: %v, want %v", when, err, want)
	}
}

// The device, and the front of what there is, stay as they are.
func TestTapIsForTheStart(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	link(t)
	file := "-tap tap0\n-pool app,monitor=none\n-virtual web,listen=198.18.0.100:80,pool=app,front=tap\n"
	r := rigged(t, file, nil)
	was := r.Config()
	for _, next := range []string{
		strings.Replace(file, "tap0", "tap0,rack=on", 1), strings.Replace(file, ",front=tap", "", 1),
		"-pool app,monitor=none\n-virtual other,listen=127.0.0.1:0,pool=app\n",
	} {
		r.file = next
		var m config.Mistakes
		if err := r.Reload(); !errors.As(err, &m) || !strings.Contains(err.Error(), "while it runs") || r.Config() != was {
			t.Errorf("%s: %v", next, err)
		}
	}
	// All settings as they are read can be sent back.
	next := was.Clone()
	if err := next.SetVirtual("web", was.Virtuals[0].Settings()...); err != nil {
		t.Error(err)
	}
}

// What can't be opened ends the program, and says why.
func TestTapErrors(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	command(t, "ip tuntap add dev tap0 mode tap")
	for args, want := range map[string]string{
		"lo": "no TAP device", "tap0": "multi_queue",
	} {
		code, _, errs := program("run", "-tap", args, "-virtual", "web,listen=198.18.0.100:80,front=tap,pool=app", "-pool", "app", "-admin", "off")
		if code != exitError || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}
