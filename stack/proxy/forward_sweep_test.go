package proxy

import (
	"testing"
	"time"

	"penstock/stack/tap/ether"
)

// An idle timeout that is changed holds for forwarded connections that are there, of
// whose packets the log is told.
func TestForwardIdleChanges(t *testing.T) {
	var link, back *ether.Device
	r := start(t, member(behind, 5), overTwo(&link, &back, snatFirst), idle(time.Hour))
	echoHost(t, back)
	c, err := dialHost(host(t, link, 1), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.untilInUse(1)
	r.isolated(func(int64) {
		v := r.virtuals[0]
		v.IdleTimeout = time.Millisecond
		r.SetVirtual(0, v)
	})
	// SYN and acknowledgement, SYN-ACK; any of them may come twice.
	if e := r.wantEnd(Idle); e.PacketsUp < 2 || e.PacketsDown < 1 {
		t.Errorf("%d packets up, %d down", e.PacketsUp, e.PacketsDown)
	}
}
