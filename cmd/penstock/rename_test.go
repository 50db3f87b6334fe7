package main

import (
	"net"
	"strings"
	"testing"
)

// A virtual server may have the address of one that goes in the same change: it was
// given another name. So it is on the device, as on kernel sockets, and if the change
// fails for another reason the first one is still there.
func TestRenamed(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	link(t)
	s := server(t)
	base := "-tap tap0,syn-table=1K\n-loops 2\n-pool app,monitor=none\n-member " + s + ",pool=app,connection-limit=1\n"
	on := func(name string) string {
		return "-virtual " + name + ",listen=198.18.0.100:80,pool=app,front=tap\n-virtual kernel" + name + ",listen=127.0.0.1:7080,pool=app\n"
	}
	r := rigged(t, base+on("first"), nil)
	r.visit(0)
	r.reload(base + on("second"))
	r.visit(0)
	r.visit(1)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	busy := ln.Addr().String()
	r.file = base + on("third") + "-virtual taken,listen=" + busy + ",pool=app\n"
	if err := r.Reload(); err == nil || !strings.Contains(err.Error(), busy) {
		t.Errorf("on a taken address: %v", err)
	}
	if name := r.Config().Virtuals[0].Name; name != "second" {
		t.Errorf("it is called %s", name)
	}
	r.visit(0)
	r.reload(base + on("third"))
	r.visit(0)
	r.visit(1)
	r.forgotten()
}
