package metrics

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"penstock/lb/dispatch"
)

// expect compares the lines of the metrics that are named, help and type
// left out.
func expect(t *testing.T, f *fake, when string, want string) {
	t.Helper()
	text := scrape(t, f)
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.Contains(text, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, " ")
			name, _, _ = strings.Cut(name, "{")
			t.Errorf("%s: no line\n\t%s\nbut\n%s", when, line, grep(text, name))
		}
	}
}

func grep(text, name string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			b.WriteString("\t" + line)
		}
	}
	return b.String()
}

func scrape(t *testing.T, f *fake) string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(f).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestStory follows a few clients through all that can be counted.
func TestStory(t *testing.T) {
	f := newFake(t, flags)
	expect(t, f, "at rest", `
		penstock_virtual_connection_limit{virtual="web"} 9
		penstock_virtual_connection_limit{virtual="mail"} +Inf
		penstock_virtual_accepted_total{virtual="web"} 100
		penstock_virtual_refused_total{virtual="mail"} 1
		penstock_virtual_bytes_total{direction="down",virtual="web"} 2000
		penstock_pool_connections{pool="app"} 0
		penstock_pool_connection_limit{pool="app"} +Inf
		penstock_pool_dials_total{pool="app"} 3
		penstock_pool_bytes_total{direction="up",pool="app"} 21
		penstock_pool_bytes_total{direction="down",pool="mx"} 45
		penstock_pool_connq_depth_limit{pool="app"} 3
		penstock_pool_connq_depth_limit{pool="mx"} +Inf
		penstock_pool_connq_age_head_seconds{pool="app"} 0
		penstock_pool_wait_seconds_count{outcome="served",pool="app"} 0
		penstock_member_connection_limit{member="10.0.0.1:25",pool="mx"} +Inf
		penstock_member_state{member="10.0.0.3:25",pool="mx",state="disabled"} 1
		penstock_member_state{member="10.0.0.3:25",pool="mx",state="enabled"} 0
		penstock_node_connection_limit{node="10.0.0.1"} 7
		penstock_node_dials_total{node="10.0.0.1"} 4
		penstock_node_bytes_total{direction="up",node="10.0.0.1"} 22
		penstock_descriptors 12
		penstock_descriptors_limit 1000
		penstock_draining 0`)

	all := f.arrive(0, 7) // 3 are served, 3 wait, 1 is too many
	f.pass(250 * time.Millisecond)
	expect(t, f, "full", `
		penstock_virtual_connections{virtual="web"} 3
		penstock_pool_connections{pool="app"} 3
		penstock_pool_connq_depth{pool="app"} 3
		penstock_pool_connq_all_depth{pool="app"} 3
		penstock_pool_connq_age_head_seconds{pool="app"} 0.25
		penstock_pool_overflowed_total{pool="app"} 1
		penstock_member_connections{member="10.0.0.1:80",pool="app"} 1
		penstock_member_connections{member="10.0.0.2:80",pool="app"} 2
		penstock_node_connections{node="10.0.0.1"} 1
		penstock_node_connections{node="10.0.0.2"} 2`)

	f.Loop(0).Release(f.now, all[0].Path)
	granted := f.settle(t)
	f.Loop(0).Leave(f.now, all[4].Waiter, start)
	expect(t, f, "one served, one left", `
		penstock_pool_connections{pool="app"} 3
		penstock_pool_connq_depth{pool="app"} 1
		penstock_pool_connq_serviced_total{pool="app"} 1
		penstock_pool_connq_age_max_seconds{pool="app"} 0.25
		penstock_pool_connq_age_edm_seconds{pool="app"} 0.25
		penstock_pool_connq_age_ema_seconds{pool="app"} 0.03125
		penstock_pool_abandoned_total{pool="app"} 1
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="0.128"} 0
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="0.256"} 1
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="+Inf"} 1
		penstock_pool_wait_seconds_sum{outcome="served",pool="app"} 0.25
		penstock_pool_wait_seconds_count{outcome="abandoned",pool="app"} 1`)

	a := dispatch.Attempt{Since: start}
	f.Loop(0).Failed(f.now, granted[0], 3, &a)
	expect(t, f, "a dial failed", `
		penstock_pool_requeued_total{pool="app"} 1
		penstock_member_dial_failures_total{member="10.0.0.1:80",pool="app"} 1
		penstock_member_back_off{member="10.0.0.1:80",pool="app"} 1
		penstock_member_back_off_seconds{member="10.0.0.1:80",pool="app"} 0.05
		penstock_member_back_off{member="10.0.0.2:80",pool="app"} 0
		penstock_member_probing{member="10.0.0.1:80",pool="app"} 0`)

	f.pass(100 * time.Millisecond)
	f.settle(t)
	expect(t, f, "the pause is over, the oldest waiter probes", `
		penstock_member_back_off{member="10.0.0.1:80",pool="app"} 1
		penstock_member_back_off_seconds{member="10.0.0.1:80",pool="app"} 0
		penstock_member_probing{member="10.0.0.1:80",pool="app"} 1`)

	f.pass(10 * time.Second)
	f.settle(t)
	expect(t, f, "too late for the last", `
		penstock_pool_expired_total{pool="app"} 1
		penstock_pool_connq_depth{pool="app"} 0
		penstock_pool_connq_age_head_seconds{pool="app"} 0
		penstock_pool_wait_seconds_count{outcome="expired",pool="app"} 1`)
}

// What a change does shows at once.
func TestChangesShow(t *testing.T) {
	f := newFake(t, flags)
	f.Loop(1).SetMemberLimit(f.now, 0, 0)
	f.Loop(1).SetNodeState(f.now, 0, dispatch.Offline)
	expect(t, f, "changed", `
		penstock_member_connection_limit{member="10.0.0.1:80",pool="app"} +Inf
		penstock_member_state{member="10.0.0.1:80",pool="app",state="offline"} 1
		penstock_member_state{member="10.0.0.1:25",pool="mx",state="offline"} 1
		penstock_member_state{member="10.0.0.2:80",pool="app",state="offline"} 0`)
}

// The names are as Prometheus wants them, and the collector says the truth
// about what it collects.
func TestLint(t *testing.T) {
	f := newFake(t, flags)
	problems, err := testutil.CollectAndLint(NewCollector(f))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(NewCollector(f), build())
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families {
		if !strings.HasPrefix(m.GetName(), "penstock_") {
			t.Errorf("%s", m.GetName())
		}
	}
}

func TestProcessShown(t *testing.T) {
	text := scrape(t, newFake(t, flags))
	for _, name := range []string{"penstock_build_info{", "go_goroutines ", "process_open_fds "} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

// Scrapes while loops decide; for the race detector.
func TestScrapeUnderLoad(t *testing.T) {
	f := newFake(t, flags)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			l := f.Loop(i)
			for {
				select {
				case <-stop:
					return
				default:
				}
				v := l.Arrive(start, 0, 0, 1, dispatch.Attempt{Since: start})
				switch v.Kind {
				case dispatch.Proceed:
					l.Release(start, v.Path)
				case dispatch.Wait:
					l.Leave(start, v.Waiter, start)
				}
				for o, ok := l.Next(); ok; o, ok = l.Next() {
					l.Release(start, o.Path)
				}
			}
		})
	}
	h := Handler(f)
	for range 20 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != http.StatusOK {
			body, _ := io.ReadAll(w.Body)
			t.Errorf("%d: %s", w.Code, body)
		}
	}
	close(stop)
	wg.Wait()
}

func BenchmarkScrape(b *testing.B) {
	flags := []string{"-listen=127.0.0.1:1"}
	for i := range 100 {
		flags = append(flags, fmt.Sprintf("-member=10.0.1.1:%d,connection-limit=10", 1000+i))
	}
	h := Handler(newFake(b, flags))
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}
