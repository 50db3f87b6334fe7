package cases

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tally is how often what has happened, as clients and servers saw it.
type tally map[string]int

// mixed is a run in which all happens that is counted. Each part of it says
// what it adds to the tally, which must be what the program counts.
type mixed struct {
	t     *testing.T
	p     *proxy
	a     *server
	guest chan *visit // while a is not busy by itself
	auto  atomic.Bool // a ends its connections by itself
	want  tally
	r     *rand.Rand
	begun time.Time
}

func newMixed(t *testing.T, remembered string) *mixed {
	m := &mixed{t: t, guest: make(chan *visit, 1000), want: tally{}, r: rand.New(rand.NewPCG(11, 13)), begun: time.Now()}
	m.a = listen(t, "A", func(v *visit) {
		if m.auto.Load() {
			lasting(50 * time.Millisecond)(v)
			return
		}
		m.guest <- v
	})
	m.p = setup{
		virtual: "persist=source,persist-timeout=" + remembered, pool: "reselect-tries=1", members: []string{m.a.limit(2)},
	}.start(t)
	return m
}

// some is a number of clients.
func (m *mixed) some() int { return 3 + m.r.IntN(5) }

// add counts.
func (m *mixed) add(what string, n int) { m.want[what] += n }

// clients connects n polite clients, each from an address of its own.
func (m *mixed) clients(n int) (cs []*client) {
	m.t.Helper()
	for range n {
		m.add("accepted", 1)
		cs = append(cs, m.p.politeFrom(m.source()))
	}
	return cs
}

// source is the address of the last client that was accepted.
func (m *mixed) source() string {
	n := m.want["accepted"]
	return "127.0." + itoa(4+n/250) + "." + itoa(1+n%250)
}

// empty waits until nobody is there, and the pass that found that out is over: who
// comes before that waits for it.
func (m *mixed) empty() {
	m.t.Helper()
	await(m.t, patience, "nobody is there", func() bool { return m.p.inUse() == 0 && m.p.waitingAll() == 0 })
	m.p.settled()
}

func (m *mixed) next() *visit {
	m.t.Helper()
	select {
	case v := <-m.guest:
		m.add("dials", 1)
		return v
	case <-time.After(patience):
		m.t.Fatal("nobody came to A")
		return nil
	}
}

// busy has two clients hold the member, and n wait. free ends it all: those
// who are left are served.
func (m *mixed) busy(n int) (held []*visit, waiting []*client) {
	m.t.Helper()
	m.empty()
	m.clients(2)
	held = []*visit{m.next(), m.next()}
	waiting = m.clients(n)
	m.p.awaitAll(n)
	return held, waiting
}

func (m *mixed) free(held []*visit, left int) {
	m.t.Helper()
	for range left {
		held[0].end()
		held = append(held[1:], m.next())
	}
	m.add("serviced", left)
	held[0].end()
	held[1].end()
}

func (m *mixed) served() {
	n := m.some()
	held, _ := m.busy(n)
	m.free(held, n)
}

func (m *mixed) abandoned() {
	n := m.some()
	held, waiting := m.busy(n + 2)
	for _, c := range waiting[:n] {
		c.reset()
	}
	m.p.awaitAll(2)
	m.add("abandoned", n)
	m.free(held, 2)
}

func (m *mixed) expired() {
	n := m.some()
	held, _ := m.busy(n)
	m.p.setPool("queue-time-limit", "10ms")
	m.p.awaitAll(0)
	m.add("expired", n)
	m.add("refused", n)
	m.free(held, 0)
	m.p.setPool("queue-time-limit", "30s")
}

func (m *mixed) overflowed() {
	n := m.some()
	m.p.setPool("queue-depth-limit", itoa(n))
	held, _ := m.busy(n)
	over := m.some()
	for range over {
		m.p.turnedAway()
	}
	m.add("accepted", over)
	m.add("overflowed", over)
	m.add("refused", over)
	m.free(held, n)
	m.p.setPool("queue-depth-limit", "0")
}

func (m *mixed) flushed() {
	n := m.some()
	held, _ := m.busy(n)
	m.p.ctl("flush", "pool", "p")
	m.add("flushed", n)
	m.add("refused", n)
	m.free(held, 0)
}

func (m *mixed) refusedNoMember() {
	m.p.setPool("when-down", "refuse")
	n := m.some()
	held, _ := m.busy(n)
	m.p.state(m.a, "offline")
	m.p.awaitAll(0)
	more := m.some()
	for range more {
		m.p.turnedAway()
	}
	m.add("accepted", more)
	m.add("refusedNoMember", n+more)
	m.add("refused", n+more)
	m.free(held, 0)
	m.p.state(m.a, "enabled")
	m.p.setPool("when-down", "queue")
}

// moved: sticky clients wait for a member that goes offline.
func (m *mixed) moved() {
	held, _ := m.busy(0)
	n := m.some()
	source := m.source() // of the last that got in
	for i := range n {
		m.p.politeFrom(source)
		m.p.awaitAll(i + 1)
	}
	m.add("accepted", n)
	m.p.state(m.a, "offline")
	m.add("moved", n)
	m.p.state(m.a, "enabled")
	m.free(held, n)
}

// requeued: a dial is refused, and its client goes back to its place.
func (m *mixed) requeued() {
	bad := server{t: m.t, addr: refusing(m.t)}
	held, _ := m.busy(0)
	m.p.add(&bad, 1)
	m.clients(1)
	m.p.awaitAll(1)
	m.add("requeued", 1)
	await(m.t, atOnce, "one failed dial", func() bool { return m.p.member(&bad).DialFailures == 1 })
	m.add("dials", 1) // the one that was refused
	m.p.remove(&bad, "")
	m.free(held, 1)
}

// overload has many clients come again and again until it is enough. It returns
// how often one was served, and refused.
func (m *mixed) overload(clients int, enough func() bool) (served, refused int) {
	var yes, no atomic.Int64
	var all sync.WaitGroup
	m.auto.Store(true)
	var over atomic.Bool
	for i := range clients {
		all.Go(func() {
			for !over.Load() {
				c, err := m.p.dial("127.0.3." + itoa(1+i))
				if err != nil { // reset already
					no.Add(1)
					continue
				}
				if c.greeting(patience) == "A" {
					yes.Add(1)
					c.ends(patience)
				} else {
					no.Add(1)
				}
				c.Close()
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	happens(patience, enough)
	over.Store(true)
	all.Wait()
	m.auto.Store(false)
	m.empty()
	m.add("accepted", int(yes.Load()+no.Load()))
	m.add("dials", int(yes.Load()))
	m.add("refused", int(no.Load()))
	return int(yes.Load()), int(no.Load())
}

// rejected has an overload in which a rule refuses, counted under a name, and
// perhaps queue-time-limit.
func (m *mixed) rejected(what, key, value, off string) {
	m.p.setPool(key, value)
	// Half a second before a client asks again that is connecting: if it is told no
	// meanwhile, that is somebody else to the proxy.
	m.p.setPool("queue-time-limit", "500ms")
	before := m.counted()
	served, refused := m.overload(80, func() bool { return m.counted()[what] >= before[what]+20 })
	now := m.counted()
	crossed := m.p.crossed(m.want["accepted"], m.begun)
	m.p.setPool(key, off)
	m.p.setPool("queue-time-limit", "30s")
	// Which of the two it was, a client can't tell, nor whether it waited.
	by, late := now[what]-before[what], now["expired"]-before["expired"]
	waited := now["serviced"] - before["serviced"]
	m.t.Logf("%s: %d served, %d of them waited; %d refused, %d by it", what, served, waited, refused, by)
	if no := by + late; no < refused || no > refused+crossed || by == 0 || waited > served+crossed {
		m.t.Errorf("%s %d and expired %d; clients saw %d served, %d refused", what, by, late, served, refused)
	}
	m.add(what, by)
	m.add("expired", late)
	m.add("serviced", waited)
}

// outcomes are the counters of a queue by their names in the API, and in the
// metrics.
var outcomes = map[string]string{
	"serviced": "connq_all_serviced", "expired": "expired", "overflowed": "overflowed", "abandoned": "abandoned", "moved": "moved",
	"requeued": "requeued", "refusedNoMember": "refused_no_member", "early": "early", "shed": "shed", "flushed": "flushed",
}

// counted returns what the API says.
func (m *mixed) counted() tally {
	m.t.Helper()
	m.p.settled()
	var pool struct {
		tally
		ConnqAll    struct{ Serviced int }
		Connections struct{ Total int }
	}
	text := []byte(m.p.api.get("/v1/pools/p"))
	var fields map[string]any
	if err := json.Unmarshal(text, &pool); err != nil {
		m.t.Fatal(err)
	}
	json.Unmarshal(text, &fields)
	got := tally{"serviced": pool.ConnqAll.Serviced, "dials": pool.Connections.Total}
	for name := range outcomes {
		if n, ok := fields[name].(float64); ok {
			got[name] = int(n)
		}
	}
	var v struct {
		Connections struct{ Total int }
		Refused     int
	}
	if err := json.Unmarshal([]byte(m.p.api.get("/v1/virtuals/v")), &v); err != nil {
		m.t.Fatal(err)
	}
	got["accepted"], got["refused"] = v.Connections.Total, v.Refused
	return got
}

// compare compares the tally with what is told in the API and in the metrics.
func (m *mixed) compare() {
	m.t.Helper()
	got, crossed := m.counted(), m.p.crossed(m.want["accepted"], m.begun)
	for name, n := range m.want {
		if got[name] < n || got[name] > n+crossed {
			m.t.Errorf("%s: %d in the API; want %d", name, got[name], n)
		}
	}
	if crossed > 0 { // what became of these is not known
		m.want = got
	}
	for name, series := range outcomes {
		n := m.want[name]
		if k := m.p.metric("penstock_pool_" + series + `_total{pool="p"}`); k != float64(n) {
			m.t.Errorf("%s: %v in the pool's metrics; want %d", name, k, n)
		}
		if name == "serviced" {
			series = "connq_serviced"
		}
		if k := m.p.metric("penstock_virtual_" + series + `_total{virtual="v"}`); k != float64(n) {
			m.t.Errorf("%s: %v in the virtual server's metrics; want %d", name, k, n)
		}
	}
	for _, name := range []string{"accepted", "refused"} {
		if k := m.p.metric("penstock_virtual_" + name + `_total{virtual="v"}`); k != float64(m.want[name]) {
			m.t.Errorf("%s: %v in the metrics; want %d", name, k, m.want[name])
		}
	}
	refused := m.p.metric(`penstock_pool_wait_seconds_count{outcome="served",pool="p"}`)
	if refused != float64(m.want["serviced"]) {
		m.t.Errorf("waits of the served: %v; want %d", refused, m.want["serviced"])
	}
}

// Every counter is what the clients saw, over a run in which all happens.
func TestCountersAreWhatClientsSaw(t *testing.T) {
	t.Parallel()
	m := newMixed(t, "1m") // long enough for moved
	parts := []func(){m.served, m.abandoned, m.expired, m.overflowed, m.flushed, m.refusedNoMember, m.moved, m.requeued}
	for range count(2, 10) {
		m.r.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		for _, part := range parts {
			part()
		}
	}
	m.empty()
	m.compare()
	if n := len(m.p.awaitLog(m.want["accepted"])); n != m.want["accepted"] {
		t.Errorf("%d lines in the access log for %d clients", n, m.want["accepted"])
	}
}

// The same for those who are refused in an overload, by each of its rules.
func TestOverloadIsCounted(t *testing.T) {
	for what, set := range map[string][3]string{
		"early": {"refuse-early", "on", "off"}, "shed": {"queue-discipline", "codel", "fifo"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMixed(t, "600ms")
			m.rejected(what, set[0], set[1], set[2])
			m.served()
			m.empty()
			m.compare()
		})
	}
}
