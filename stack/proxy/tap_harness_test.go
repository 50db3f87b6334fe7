package proxy

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"penstock/stack/kernel"
	"penstock/stack/tap"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// vip is where clients of a TAP front end connect.
var vip = netip.MustParseAddrPort("198.18.0.100:80")

// onLink has a link in memory for a device.
type onLink struct{ *ether.Device }

func (d onLink) Queue(i int) tap.Queue { return d.Device.Queue(i) }

// overTap has the virtual server listen on a TAP device, which is a link in
// memory with a queue for each loop.
func overTap(link **ether.Device) option {
	return func(c *Config) {
		*link = ether.New(c.Dispatch.Loops)
		c.devices = &tap.Devices{Clients: onLink{*link}}
		c.Tap = &tap.Config{Handshakes: 1000, TimeWait: time.Second}
		v := &c.Virtuals[0]
		v.Tap, v.Listen = true, kernel.Address{AddrPort: vip}
	}
}

// host adds somebody to the link.
func host(t testing.TB, d *ether.Device, n byte) *ether.Host {
	t.Helper()
	h, err := d.Host(netip.AddrFrom4([4]byte{198, 18, 1, n}))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// dialHost connects a host, or gives up.
func dialHost(h *ether.Host, patience time.Duration) (*gonet.TCPConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return h.Dial(ctx, 0, vip)
}

// forged is a SYN of somebody who is not there, by number.
func forged(n uint32) []byte {
	f := frame.Flow{
		SrcMAC: ether.Router, DstMAC: ether.Own, Src: netip.AddrFrom4([4]byte{198, 19, byte(n >> 8), byte(n)}).As16(),
		Dst: vip.Addr().As16(), SrcPort: uint16(n*7 + 1024), DstPort: vip.Port(),
	}
	return frame.AppendTCP(nil, &f, &frame.Header{Seq: n, Flags: frame.SYN, Window: 65000, Options: &frame.Options{MSS: 1460, WS: 7}}, nil)
}

// checkPorts checks that no record and no connection is left.
func (r *rig) checkPorts() {
	r.t.Helper()
	r.Isolate(func(int64) {
		for i, w := range r.workers {
			if n := w.tap.Len(); n != 0 {
				r.t.Errorf("loop %d: %d records", i, n)
			}
			for conn, ci := range w.conns {
				if ci != 0 {
					r.t.Errorf("loop %d: connection %d is client %d's", i, conn, ci)
				}
			}
		}
	})
	if got := r.TapTotals(); got.Parked != 0 || got.Proven != 0 {
		r.t.Errorf("%d parked, %d proven at the end", got.Parked, got.Proven)
	}
}

// untilIdle waits until nothing is in use, for some looks in a row: frames may be on
// their way. The hosts are done; they vanish, since who is closed may send its last
// again, and be parked for that.
func (r *rig) untilIdle(hosts []*ether.Host) {
	r.t.Helper()
	for _, h := range hosts {
		h.Vanish()
	}
	idle := func() bool {
		got := r.TapTotals()
		return r.Clients() == 0 && r.inUse() == 0 && r.parked() == 0 && got.Flows == 0 && got.Parked == 0
	}
	const long = 50
	deadline := time.Now().Add(patience)
	for looks := 0; looks < long; time.Sleep(time.Millisecond) {
		if looks++; !idle() {
			looks = 0
		}
		if time.Now().After(deadline) {
			r.t.Errorf("not idle: %d clients, %d in use, %d parked, %+v", r.Clients(), r.inUse(), r.parked(), r.TapTotals())
			r.dump()
			return
		}
	}
}
