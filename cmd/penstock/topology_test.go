package main

import (
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/lb/control/config"
	"penstock/stack/proxy"
	"penstock/stack/tap"
)

// What is set for the TAP front end arrives there.
func TestTapTopology(t *testing.T) {
	c, err := config.Parse([]string{
		"-tap=tap0,address=198.18.0.1/24/2001:db8::1/64,mac=02:00:00:00:00:01,mtu=1500,mss=1400,rack=on,congestion-control=reno," +
			"time-wait=2s,receive-buffer=1M,send-buffer=2M,syn-table=3,flow-table=5",
		"-virtual=a,listen=198.18.0.9:80,front=tap,syn-proof=always,syn-share=7,refuse=drop",
		"-virtual=b,listen=198.18.0.9:81,front=tap,syn-proof=off",
		"-virtual=c,listen=:80", "-pool=p",
	}, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p := topology(c, slog.New(slog.DiscardHandler))
	want := &tap.Config{
		Device: "tap0", Addresses: []netip.Prefix{netip.MustParsePrefix("198.18.0.1/24"), netip.MustParsePrefix("2001:db8::1/64")},
		MAC: [6]byte{2, 0, 0, 0, 0, 1}, MTU: 1500, MSS: 1400, RACK: true, Congestion: "reno", TimeWait: 2 * time.Second,
		ReceiveBuffer: 1 << 20, SendBuffer: 2 << 20, Handshakes: 3, Flows: 5,
	}
	if !reflect.DeepEqual(p.Tap, want) {
		t.Errorf("%+v, want %+v", p.Tap, want)
	}
	a, b, k := &p.Virtuals[0], &p.Virtuals[1], &p.Virtuals[2]
	if !a.Tap || a.SynProof != tap.ProofAlways || a.SynShare != 7 || a.Refuse != proxy.Drop {
		t.Errorf("%+v", a)
	}
	if !b.Tap || b.SynProof != tap.ProofOff || b.SynShare != 25 || b.Refuse != proxy.Reset {
		t.Errorf("%+v", b)
	}
	if k.Tap || listeners(&p) != 1 {
		t.Errorf("%+v, and %d listen on sockets", k, listeners(&p))
	}
}

// So does what is set for forwarding; what a member may have is bounded by ports.
func TestForwardTopology(t *testing.T) {
	c, err := config.Parse([]string{
		"-tap=tap0", "-tap=tap1,side=servers,address=10.0.0.9/24,gateway=10.0.0.254,mac=02:00:00:00:00:02,mtu=1400", "-pool=p",
		"-virtual=a,listen=198.18.0.9:80,front=tap,mode=forward,snat=10.0.0.9/10.0.0.8,pool=p",
		"-member=10.0.0.1:80,pool=p", "-member=10.1.0.2:80,pool=p,connection-limit=7",
	}, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p := topology(c, slog.New(slog.DiscardHandler))
	want := &tap.Link{
		Device: "tap1", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.9/24")},
		Gateways: []netip.Addr{netip.MustParseAddr("10.0.0.254")}, MAC: [6]byte{2, 0, 0, 0, 0, 2}, MTU: 1400,
	}
	if !reflect.DeepEqual(p.Tap.Servers, want) || p.Tap.Device != "tap0" || p.Tap.Gateways != nil {
		t.Errorf("%+v and %+v, want %+v", p.Tap, p.Tap.Servers, want)
	}
	snat := []netip.Addr{netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("10.0.0.8")}
	if v := &p.Virtuals[0]; !v.Tap || !v.Forward || !slices.Equal(v.SNAT, snat) {
		t.Errorf("%+v", v)
	}
	if a, b := p.Dispatch.Members[0], p.Dispatch.Members[1]; a.Limit != 2*64512 || a.Depth != a.Limit || b.Limit != 7 {
		t.Errorf("%+v, %+v", a, b)
	}
	one, err := config.Parse([]string{
		"-tap=tap0,address=198.18.0.1/24,gateway=198.18.0.254", "-pool=p", "-virtual=a,listen=198.18.0.9:80,front=tap,mode=forward",
		"-member=10.0.0.1:80,pool=p",
	}, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p = topology(one, slog.New(slog.DiscardHandler))
	if p.Tap.Servers != nil || len(p.Tap.Gateways) != 1 || !p.Virtuals[0].Forward || p.Virtuals[0].SNAT != nil || p.Dispatch.Members[0].Limit != 0 {
		t.Errorf("%+v, %+v, %+v", p.Tap, p.Virtuals[0], p.Dispatch.Members[0])
	}
}

// What is forwarded needs no descriptors, and their number says nothing of it.
func TestForwardRoom(t *testing.T) {
	for _, tt := range []struct{ args, says, not string }{
		{"mode=forward", "forwarded_connections_at_most=2000", "proxied"},
		{"mode=forward -max-connections=900000000", "forwarded_connections_at_most=2000", "more than descriptors allow"},
		{"mode=forward -max-connections=9", "forwarded_connections_at_most=9", "proxied"},
		{"mode=forward -virtual=b,listen=:80,pool=p", "proxied_connections_at_most", "at_most=0"},
		{"mode=tcp", "proxied_connections_at_most", "forwarded"},
	} {
		args := strings.Fields("-loops=2 -tap=tap0,address=198.18.0.1/24,flow-table=1000 -pool=p -virtual=a,listen=198.18.0.9:80,pool=p,front=tap," + tt.args)
		c, err := config.Parse(args, config.Env{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		log := slog.New(slog.NewTextHandler(&b, nil))
		p := topology(c, log)
		if err := shareDescriptors(&p, c, log); err != nil || !strings.Contains(b.String(), tt.says) || strings.Contains(b.String(), tt.not) {
			t.Errorf("%s: %v, %s", tt.args, err, b.String())
		}
	}
}

func TestNoTap(t *testing.T) {
	c, err := config.Parse([]string{"-listen=:80"}, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if p := topology(c, slog.New(slog.DiscardHandler)); p.Tap != nil {
		t.Errorf("%+v", p.Tap)
	}
}
