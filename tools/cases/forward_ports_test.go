package cases

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"penstock/bench/reflect"
	flood "penstock/bench/syn"
)

// When all ports of the address that stands for clients are in use at a server,
// who comes next keeps its place, unnoticed by its client, and is served as soon as
// there is a port. It is no fault of the server's, which is not dialled less often.
//
// One pool can't run out of them: its members' limits allow for that. Two with the
// same server share its ports.
func TestForwardPortsRunOut(t *testing.T) {
	forwardOnly(t)
	if testing.Short() {
		t.Skip("it takes 64,512 connections")
	}
	const ports, clients, request, response = 65536 - 1024, 5, 64, 256
	l := newLink(t)
	l.reach()
	at := netip.AddrPortFrom(l.atA(50), 80) // all frames, no socket
	server, err := reflect.Listen(reflect.Config{Device: l.arm.dev, Listen: at, Request: request, Response: response})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { server.Serve(ctx) })
	p := setup{
		loops: 1, virtual: "syn-proof=off", pool: "queue-time-limit=0", members: []string{at.String()}, link: l,
		flags: []string{
			"-virtual", "w,listen=127.0.0.1:0,pool=q,syn-proof=off", "-pool", "q,queue-depth-cap=none,queue-time-limit=0,monitor=none",
			"-member", at.String() + ",pool=q",
		},
	}.start(t)
	t.Cleanup(func() { stop(); all.Wait() }) // while somebody reads from the devices
	w := &proxy{t: t, addr: fields(p.awaitLine("virtual=w"))["address"]}
	standing := make(chan struct{})
	all.Go(func() {
		_, err := flood.Run(ctx, flood.Config{
			Device: l.dev, Target: netip.MustParseAddrPort(p.addr), From: netip.MustParsePrefix("10.77.0.0/16"),
			Work: flood.Keep, Flows: ports, Rate: 10_000, Asks: 1000, Again: flood.Linux, Leave: flood.Silent, End: flood.Fin,
			Request: request, Response: response, For: time.Hour,
		}, flood.Events{Standing: func(int) { close(standing) }, Asks: make(chan struct{})})
		if err != nil {
			t.Error(err)
		}
	})
	for before := -1; ; { // as long as there are more
		select {
		case <-standing:
		case <-time.After(3 * patience):
			n := p.inUse()
			if n > before {
				before = n
				continue
			}
			t.Fatalf("%d of %d ports are in use", n, ports)
		}
		break
	}
	var came []*client
	var want []string
	for i := range clients {
		c := w.connect()
		came, want = append(came, c), append(want, c.LocalAddr().String())
		await(t, patience, "it waits", func() bool { return p.metric(`penstock_pool_connq_depth{pool="q"}`) == float64(i+1) })
	}
	out := func() float64 { return p.metric(`penstock_tap_ports_out_total{device="` + l.dev + `"}`) }
	await(t, patience, "there was no port for somebody", func() bool { return out() > 0 })
	never(t, time.Second, "one of them is answered", func() bool {
		return slices.ContainsFunc(came, func(c *client) bool { return !c.connecting() })
	})
	var places []string
	list, _ := p.waiters("?pool=q")
	for _, w := range list {
		places = append(places, w.Client)
	}
	if !slices.Equal(places, want) {
		t.Errorf("waiting are %v; want %v", places, want)
	}
	t.Logf("%v times there was no port", out())
	if code, text := p.api.do("DELETE", "/v1/members/p/"+at.String()+"?now=true", ""); code != http.StatusOK { // and its ports
		t.Fatalf("DELETE: %d\n%s", code, text)
	}
	for _, c := range came {
		c.connected(patience)
		c.Write(make([]byte, request))
		c.SetReadDeadline(time.Now().Add(patience))
		if n, err := io.ReadFull(c, make([]byte, response)); err != nil {
			t.Errorf("%d bytes of %d, %v", n, response, err)
		}
		c.Close()
	}
	await(t, patience, "nobody is there", func() bool {
		return p.metric("penstock_descriptors") == 0 && p.metric(`penstock_pool_connections{pool="q"}`) == 0
	})
	if n := p.metric(`penstock_member_dial_failures_total{member="` + at.String() + `",pool="q"}`); n > 0 {
		t.Errorf("%v failed dials", n)
	}
}
