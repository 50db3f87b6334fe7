package main

import (
	"testing"

	"penstock/stack/proxy"
)

// A verdict that was on its way when its monitor was turned off says nothing:
// nobody would ever take it back.
func TestVerdictAfterMonitorIsOff(t *testing.T) {
	r := rigged(t, "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=tcp,monitor-interval=1h\n-member 127.0.0.1:1,pool=app\n", nil)
	r.report("app/127.0.0.1:1", false, "said in time")
	if !r.member("app", "127.0.0.1:1").Down {
		t.Fatal("a verdict is not heard")
	}
	r.setPool("app", "monitor", "none")
	if r.member("app", "127.0.0.1:1").Down {
		t.Error("down without a monitor")
	}
	r.report("app/127.0.0.1:1", false, "too late")
	if r.member("app", "127.0.0.1:1").Down {
		t.Error("down by a monitor that is off")
	}
}

// What removed objects have counted is not that of a later owner of their
// numbers.
func TestNumbersUsedAgainCountFromZero(t *testing.T) {
	base := "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=none\n-member " + server(t) + ",pool=app\n"
	with := func(pool, member string) string {
		return base + "-virtual v" + pool + ",listen=127.0.0.1:0,pool=" + pool + "\n-pool " + pool + ",monitor=none\n" +
			"-member " + member + ",pool=" + pool + "\n"
	}
	r := rigged(t, base, nil)
	r.reload(with("p1", serverAt(t, "127.0.0.2:0")))
	pool, node := r.Config().Pools[1].ID, r.Config().Nodes[1].ID
	r.visit(1)
	r.reload(base)
	r.forgotten()
	if r.PoolPast(pool).Connections != 1 || r.NodePast(node).Connections != 1 {
		t.Fatalf("pool and node are remembered with %+v and %+v", r.PoolPast(pool), r.NodePast(node))
	}
	r.reload(with("p2", "127.0.0.3:1"))
	if p, n := r.Config().Pools[1].ID, r.Config().Nodes[1].ID; p != pool || n != node {
		t.Fatalf("numbers %d and %d, want %d and %d again", p, n, pool, node)
	}
	if p, n := r.PoolPast(pool), r.NodePast(node); p != (proxy.Totals{}) || n != (proxy.Totals{}) {
		t.Errorf("a new pool begins with %+v, a new node with %+v", p, n)
	}
}
