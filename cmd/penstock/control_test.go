package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
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

// The connections that a change cuts are those of a member which it removes,
// and no other change knows of them.
func TestCutBelongsToOneChange(t *testing.T) {
	s := server(t)
	file := "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=none\n-member " + s + ",pool=app\n"
	r := rigged(t, file, nil)
	id := r.idOf("app", s)
	stays := r.dial(0)
	expect(t, stays, "hello")
	old := r.Config()
	r.reload(file) // comes first
	if err := r.Apply(old, old.Clone(), id); err != admin.ErrConflict {
		t.Fatalf("a change of what is not in force: %v", err)
	}
	r.removeMember("app", s)
	for range 2 { // turns of all loops
		r.edit(func(*config.Config) error { return nil })
	}
	if n := r.proxy.VirtualTotals(0).Open; n != 1 {
		t.Errorf("%d connections are left, want the one that nobody asked to cut", n)
	}
	r.addMember("app", config.Setting{Key: "address", Value: s})
	expect(t, r.dial(0), "hello")
	old = r.Config()
	next := old.Clone()
	if err := next.RemoveMember("app", s); err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(old, next, r.idOf("app", s)); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return r.proxy.VirtualTotals(0).Open <= 1 }, "the connection is cut")
}

// A change that fails is not announced, and says why; the virtual servers that
// it would have brought don't listen.
func TestFailedReloadChangesNothing(t *testing.T) {
	base := "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=none\n-member " + server(t) + ",pool=app\n"
	ln, err := net.Listen("tcp", apart(93)+":9102") // free again when this closes it
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	r := rigged(t, base, nil)
	was := r.Config()
	r.file = base + "-virtual one,listen=127.0.0.1:0,pool=app\n-virtual two,listen=" + ln.Addr().String() + ",pool=app\n"
	if err := r.Reload(); err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("reload on an address that is in use: %v", err)
	}
	if r.Config() != was {
		t.Error("another configuration is in force")
	}
	r.visit(0)
	ln.Close()
	r.reload(r.file)
	r.visit(2)
}

// A member that is removed and comes back while it has connections has its
// number again: they count in its limits, and so does what it has counted.
func TestMemberComesBack(t *testing.T) {
	s := server(t)
	file := "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=tcp,monitor-interval=1h,slow-ramp-time=0,queue-depth-cap=none\n" +
		"-member " + s + ",pool=app,connection-limit=2\n"
	r := rigged(t, file, nil)
	id, node := r.idOf("app", s), r.Config().Nodes[0].ID
	for range 2 {
		expect(t, r.dial(0), "hello")
	}
	waiter := r.dial(0)
	until(t, func() bool { return r.disp.Pool(0).Waiting == 1 }, "one waits")
	r.report("app/"+s, false, "in its former life")
	r.removeMember("app", s)

	r.file = file + "-virtual two,listen=192.0.2.1:1,pool=app\n" // fails when the member is back
	if err := r.Reload(); err == nil {
		t.Fatal("listens on a foreign address")
	}
	if m := r.disp.Member(dispatch.MemberID(id)); !m.Removed || len(r.past.leaving) != 1 {
		t.Fatalf("after a change that failed: %+v, %v", m, r.past.leaving)
	}

	r.addMember("app", config.Setting{Key: "address", Value: s}, config.Setting{Key: "connection-limit", Value: "2"})
	if got := r.idOf("app", s); got != id || r.Config().Nodes[0].ID != node {
		t.Errorf("member and node have numbers %d and %d, want %d and %d again", got, r.Config().Nodes[0].ID, id, node)
	}
	m := r.member("app", s)
	if m.InUse != 2 || m.Removed || m.Down || r.disp.Node(0).InUse != 2 || r.disp.Pool(0).Waiting != 1 {
		t.Errorf("%+v, the node %+v, the pool %+v", m, r.disp.Node(0), r.disp.Pool(0))
	}
	if n := r.proxy.MemberTotals(id).Connections + r.PoolPast(0).Connections; n != 2 {
		t.Errorf("%d connections are counted, want 2", n)
	}
	r.edit(func(next *config.Config) error {
		return next.SetMember("app", s, config.Setting{Key: "connection-limit", Value: "3"})
	})
	expect(t, waiter, "hello")
}

// A member that goes while its pool and node are read is counted once.
func TestTotalsWhileAMemberGoes(t *testing.T) {
	s := server(t)
	file := "-virtual web,listen=127.0.0.1:0,pool=app\n-pool app,monitor=none\n-node 127.0.0.1\n"
	r := rigged(t, file+"-member "+s+",pool=app\n", nil)
	expect(t, r.dial(0), "hello") // so that it is not forgotten
	for path, pattern := range map[string]string{
		"/v1/pools/app": `"total": (\d+)`, "/v1/nodes/127.0.0.1": `"total": (\d+)`,
		"/v1/pools": `"total": (\d+)`, "/v1/nodes": `"total": (\d+)`,
		"/metrics": `penstock_pool_dials_total.* (\d+)\n`,
	} {
		v := &leaving{view: view{r.proxy, r.disp, r.control}, leave: sync.OnceFunc(func() { r.removeMember("app", s) })}
		shows(t, admin.Handler(v, r.control), path, pattern, "1")
		r.addMember("app", config.Setting{Key: "address", Value: s})
	}
}

// leaving is a view of a proxy that a member leaves while somebody looks.
type leaving struct {
	view
	leave func()
}

func (l *leaving) PoolPast(pool int) proxy.Totals {
	l.leave()
	return l.view.PoolPast(pool)
}

func (l *leaving) NodePast(node int) proxy.Totals {
	l.leave()
	return l.view.NodePast(node)
}

// shows asks for a page and looks at one number in it.
func shows(t *testing.T, h http.Handler, path, pattern, want string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	m := regexp.MustCompile(pattern).FindStringSubmatch(w.Body.String())
	if m == nil || m[1] != want {
		t.Errorf("%s shows %v, want %s: %.300s", path, m, want, w.Body)
	}
}
