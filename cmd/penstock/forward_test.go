package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
)

// linkServers makes a device with this host on its other side, as a server.
func linkServers(t *testing.T) {
	t.Helper()
	for _, line := range []string{
		"ip tuntap add dev tap1 mode tap multi_queue", "ip addr add 198.18.5.1/24 dev tap1", "ip link set tap1 up",
	} {
		command(t, line)
	}
}

// telling is a server that says who its clients are to it, and then what they say.
func telling(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "198.18.5.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
				fmt.Fprint(c, host)
				io.Copy(c, struct{ io.Reader }{c}) // not spliced: pipes would be left over
			}()
		}
	}()
	return ln.Addr().String()
}

// What is forwarded can change while it goes on, as everything else.
func TestForwardReload(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	link(t)
	linkServers(t)
	member := telling(t)
	base := "-tap tap0\n-tap tap1,side=servers,address=198.18.5.9/24\n-loops 2\n-pool app,monitor=none,queue-depth-cap=none,slow-ramp-time=0\n" +
		"-member " + member + ",pool=app\n-virtual other,listen=127.0.0.1:0,pool=none\n-pool none\n"
	web := "-virtual web,listen=198.18.0.100:80,pool=app,front=tap,mode=forward,snat="
	r := rigged(t, base+web+"198.18.5.9\n", nil)
	api := admin.Handler(view{r.proxy, r.disp, r.control}, r.control)
	if got := r.member("app", member).Limit; got != 64512 {
		t.Errorf("a member may have %d connections, for the ports of one address", got)
	}
	old := r.dial(1)
	expect(t, old, "198.18.5.9")

	r.edit(func(next *config.Config) error {
		return next.SetVirtual("web", config.Setting{Key: "snat", Value: "198.18.5.8/198.18.5.7"})
	})
	if got := r.member("app", member).Limit; got != 2*64512 {
		t.Errorf("a member may have %d connections, for the ports of two addresses", got)
	}
	second := r.dial(1)
	expect(t, second, "198.18.5.")
	fmt.Fprint(old, "goes on")
	expect(t, old, "goes on")
	until(t, func() bool { return r.proxy.TapTotals().Flows == 2 }, "two are forwarded")
	shows(t, api, "/v1/tap", `"connections": (\d+)`, "2")
	shows(t, api, "/v1/tap", `"begun": 2,\s+"refused": (\d+)`, "0")
	shows(t, api, "/v1/virtuals/web", `"current": (\d+)`, "2")
	shows(t, api, "/metrics", `penstock_tap_forwarded_connections{device="tap0"} (\d+)`, "2")
	shows(t, api, "/metrics", `penstock_tap_up{device="tap1"} (\d+)`, "1")

	r.reload(strings.Replace(base, ",pool=app\n", ",pool=app,connection-limit=2\n", 1) + web + "198.18.5.9\n")
	third := make(chan string, 1)
	go func() {
		c, err := net.DialTimeout("tcp", "198.18.0.100:80", patience)
		if err != nil {
			third <- err.Error()
			return
		}
		defer c.Close()
		b := make([]byte, len("198.18.5.9"))
		io.ReadFull(c, b)
		third <- string(b)
	}()
	until(t, func() bool { return r.proxy.TapTotals().Parked == 1 }, "the third is parked")
	second.Close()
	if got := <-third; got != "198.18.5.9" {
		t.Errorf("the third, released, is to the server %s", got)
	}

	r.file = strings.Replace(r.file, ",mode=forward,snat=198.18.5.9", "", 1)
	var m config.Mistakes
	if err := r.Reload(); !errors.As(err, &m) || !strings.Contains(err.Error(), `mode="tcp": can't be changed while it runs`) {
		t.Errorf("mode=tcp: %v", err)
	}
	r.reload(base)
	refused(t, "when it is gone", syscall.ECONNREFUSED)
	fmt.Fprint(old, "and on")
	expect(t, old, "and on")
	r.removeMember("app", member)
	fmt.Fprint(old, ", still")
	expect(t, old, ", still")
	old.Close()
	until(t, func() bool { return r.proxy.TapTotals().Flows == 0 }, "all have ended")
	r.forgotten()
}

// At the end of a drain who is forwarded is cut: both sides are reset.
func TestForwardCut(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	link(t)
	linkServers(t)
	r := rigged(t, "-tap tap0\n-tap tap1,side=servers,address=198.18.5.9/24\n-pool app,monitor=none\n-member "+telling(t)+",pool=app\n"+
		"-virtual web,listen=198.18.0.100:80,pool=app,front=tap,mode=forward,snat=198.18.5.9\n", nil)
	c := r.dial(0)
	expect(t, c, "198.18.5.9")
	r.proxy.Drain()
	fmt.Fprint(c, "goes on")
	expect(t, c, "goes on")
	r.proxy.Cut()
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("cut: %v", err)
	}
	until(t, func() bool { return r.proxy.TapTotals().Flows == 0 }, "none is left")
}
