package metrics_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/control/metrics"
	"penstock/lb/control/stage"
)

// expect compares the lines of the metrics that are named, help and type
// left out.
func expect(t *testing.T, s *stage.Stage, when string, want string) {
	t.Helper()
	text := scrape(t, s)
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

func scrape(t *testing.T, s *stage.Stage) string {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.Handler(s).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestStory follows a few clients through all that can be counted.
func TestStory(t *testing.T) {
	s := newStage(t, flags)
	expect(t, s, "at rest", `
		penstock_virtual_connection_limit{virtual="web"} 9
		penstock_virtual_connection_limit{virtual="mail"} +Inf
		penstock_virtual_accepted_total{virtual="web"} 100
		penstock_virtual_refused_total{virtual="mail"} 11
		penstock_virtual_clients{virtual="mail"} 31
		penstock_virtual_bad_headers_total{virtual="mail"} 1
		penstock_virtual_bytes_total{direction="down",virtual="web"} 2000
		penstock_virtual_persistence_records{virtual="web"} 0
		penstock_virtual_persistence_bytes{virtual="mail"} 0
		penstock_pool_connections{pool="app"} 0
		penstock_pool_connection_limit{pool="app"} +Inf
		penstock_pool_dials_total{pool="app"} 103
		penstock_pool_bytes_total{direction="up",pool="app"} 21
		penstock_pool_bytes_total{direction="down",pool="mx"} 45
		penstock_pool_members{pool="mx",state="up"} 1
		penstock_pool_members{pool="mx",state="down"} 1
		penstock_pool_paused{pool="app"} 0
		penstock_pool_release_rate{pool="app"} NaN
		penstock_pool_connq_depth_limit{pool="app"} 3
		penstock_pool_connq_depth_limit{pool="mx"} +Inf
		penstock_pool_connq_age_head_seconds{pool="app"} 0
		penstock_pool_wait_seconds_count{outcome="served",pool="app"} 0
		penstock_member_connection_limit{member="10.0.0.1:25",pool="mx"} +Inf
		penstock_member_connection_limit_in_force{member="10.0.0.1:25",pool="mx"} +Inf
		penstock_member_up{member="10.0.0.1:25",pool="mx"} 1
		penstock_member_up{member="10.0.0.3:25",pool="mx"} 0
		penstock_member_monitored{member="10.0.0.1:80",pool="app"} 1
		penstock_member_monitored{member="10.0.0.1:25",pool="mx"} 0
		penstock_member_state{member="10.0.0.3:25",pool="mx",state="disabled"} 1
		penstock_member_state{member="10.0.0.3:25",pool="mx",state="enabled"} 0
		penstock_node_connection_limit{node="10.0.0.1"} 7
		penstock_node_state{node="10.0.0.1",state="enabled"} 1
		penstock_node_dials_total{node="10.0.0.1"} 1004
		penstock_node_bytes_total{direction="up",node="10.0.0.1"} 22
		penstock_descriptors 12
		penstock_descriptors_limit 1000
		penstock_draining 0`)

	many(s, "web", 7) // 3 are served, 3 wait, 1 is too many
	s.Pass(250 * time.Millisecond)
	expect(t, s, "full", `
		penstock_virtual_connections{virtual="web"} 3
		penstock_virtual_connq_depth{virtual="web"} 3
		penstock_virtual_connq_age_head_seconds{virtual="web"} 0.25
		penstock_virtual_overflowed_total{virtual="web"} 1
		penstock_virtual_persistence_records{virtual="web"} 3
		penstock_pool_connections{pool="app"} 3
		penstock_pool_connections_max{pool="app"} 3
		penstock_pool_connq_depth{pool="app"} 3
		penstock_pool_connq_all_depth{pool="app"} 3
		penstock_pool_connq_age_head_seconds{pool="app"} 0.25
		penstock_pool_connq_all_age_head_seconds{pool="app"} 0.25
		penstock_pool_overflowed_total{pool="app"} 1
		penstock_member_connections{member="10.0.0.1:80",pool="app"} 1
		penstock_member_connections{member="10.0.0.2:80",pool="app"} 2
		penstock_node_connections{node="10.0.0.1"} 1
		penstock_node_connections{node="10.0.0.2"} 2
		penstock_node_connections_max{node="10.0.0.2"} 2`)

	s.Arrive("web", stage.Client(1)) // persisted to the first member
	expect(t, s, "one waits for its member", `
		penstock_virtual_connq_depth{virtual="web"} 4
		penstock_member_connq_depth{member="10.0.0.1:80",pool="app"} 1
		penstock_pool_connq_depth{pool="app"} 3
		penstock_pool_connq_all_depth{pool="app"} 4`)

	s.Release() // the first member's; client 4 is older than who is persisted
	s.Leave()
	expect(t, s, "one served, one left", `
		penstock_pool_connections{pool="app"} 3
		penstock_pool_connq_depth{pool="app"} 1
		penstock_pool_connq_serviced_total{pool="app"} 1
		penstock_pool_connq_all_serviced_total{pool="app"} 1
		penstock_member_connq_serviced_total{member="10.0.0.1:80",pool="app"} 0
		penstock_virtual_connq_serviced_total{virtual="web"} 1
		penstock_virtual_connq_serviced_total{virtual="mail"} 0
		penstock_pool_connq_age_max_seconds{pool="app"} 0.25
		penstock_pool_connq_age_edm_seconds{pool="app"} 0.25
		penstock_pool_connq_age_ema_seconds{pool="app"} 0.03125
		penstock_virtual_connq_age_max_seconds{virtual="web"} 0.25
		penstock_pool_abandoned_total{pool="app"} 1
		penstock_virtual_abandoned_total{virtual="web"} 1
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="0.128"} 0
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="0.256"} 1
		penstock_pool_wait_seconds_bucket{outcome="served",pool="app",le="+Inf"} 1
		penstock_pool_wait_seconds_sum{outcome="served",pool="app"} 0.25
		penstock_pool_wait_seconds_count{outcome="abandoned",pool="app"} 1
		penstock_virtual_wait_seconds_count{outcome="abandoned",virtual="web"} 1`)

	s.Pass(10 * time.Second)
	expect(t, s, "too late for the others", `
		penstock_pool_expired_total{pool="app"} 2
		penstock_virtual_expired_total{virtual="web"} 2
		penstock_member_expired_total{member="10.0.0.1:80",pool="app"} 1
		penstock_pool_connq_depth{pool="app"} 0
		penstock_pool_connq_age_head_seconds{pool="app"} 0
		penstock_pool_wait_seconds_count{outcome="refused",pool="app"} 2`)
}

// What becomes of a member shows: a failed dial, its monitor, slow ramp.
func TestMemberStory(t *testing.T) {
	s := newStage(t, strings.Fields(`-listen :80 -pool default,reselect-tries=9,slow-ramp-time=10s
		-member 10.0.0.1:80,connection-limit=10 -member 10.0.0.2:80,connection-limit=10`))
	s.Arrive("default", stage.Client(1))
	s.Fail() // goes to the other one
	expect(t, s, "a dial failed", `
		penstock_member_dial_failures_total{member="10.0.0.1:80",pool="default"} 1
		penstock_member_back_off{member="10.0.0.1:80",pool="default"} 1
		penstock_member_back_off_seconds{member="10.0.0.1:80",pool="default"} 0.05
		penstock_member_back_off{member="10.0.0.2:80",pool="default"} 0
		penstock_member_up{member="10.0.0.1:80",pool="default"} 1
		penstock_member_probing{member="10.0.0.1:80",pool="default"} 0`)

	s.Pass(time.Second)
	s.Monitor(1, false, "no answer")
	expect(t, s, "its monitor takes the other one down", `
		penstock_member_up{member="10.0.0.2:80",pool="default"} 0
		penstock_member_state{member="10.0.0.2:80",pool="default",state="enabled"} 1
		penstock_pool_members{pool="default",state="up"} 1`)

	s.Arrive("default", stage.Client(2))
	expect(t, s, "the pause is over, the next client probes", `
		penstock_member_back_off{member="10.0.0.1:80",pool="default"} 1
		penstock_member_back_off_seconds{member="10.0.0.1:80",pool="default"} 0
		penstock_member_probing{member="10.0.0.1:80",pool="default"} 1`)

	s.Monitor(1, true, "connected")
	s.Pass(5 * time.Second)
	expect(t, s, "it comes up slowly", `
		penstock_member_up{member="10.0.0.2:80",pool="default"} 1
		penstock_member_ramping{member="10.0.0.2:80",pool="default"} 1
		penstock_member_connection_limit{member="10.0.0.2:80",pool="default"} 10
		penstock_member_connection_limit_in_force{member="10.0.0.2:80",pool="default"} 5`)
}

// What an operator does shows at once.
func TestChangesShow(t *testing.T) {
	s := newStage(t, flags)
	many(s, "web", 6)
	next := s.Config().Clone()
	if err := next.SetMember("app", "10.0.0.1:80", config.Setting{Key: "connection-limit", Value: "0"}); err != nil {
		t.Fatal(err)
	}
	if err := next.SetNode("10.0.0.1", config.Setting{Key: "state", Value: "offline"}); err != nil {
		t.Fatal(err)
	}
	s.Pause("app", true)
	if err := s.Apply(s.Config(), next); err != nil {
		t.Fatal(err)
	}
	if n, _ := s.Flush("app", admin.Filter{Client: netip.MustParsePrefix("192.0.2.5/32")}); n != 1 {
		t.Errorf("%d flushed", n)
	}
	expect(t, s, "changed", `
		penstock_member_connection_limit{member="10.0.0.1:80",pool="app"} +Inf
		penstock_member_state{member="10.0.0.1:80",pool="app",state="offline"} 1
		penstock_member_state{member="10.0.0.1:25",pool="mx",state="offline"} 1
		penstock_member_state{member="10.0.0.2:80",pool="app",state="offline"} 0
		penstock_node_state{node="10.0.0.1",state="offline"} 1
		penstock_pool_paused{pool="app"} 1
		penstock_pool_flushed_total{pool="app"} 1
		penstock_virtual_flushed_total{virtual="web"} 1
		penstock_pool_connq_depth{pool="app"} 2`)
}

// What the TAP front end has seen shows if there is one.
func TestTapStory(t *testing.T) {
	if text := scrape(t, newStage(t, flags)); strings.Contains(text, "penstock_tap_") {
		t.Errorf("there is no device\n%s", grep(text, "penstock_tap_"))
	}
	s := newStage(t, strings.Fields("-loops 2 -tap tap0,syn-table=1000 -virtual web,listen=198.18.0.9:80,pool=app,front=tap -pool app"))
	expect(t, s, "with a device", `
		penstock_tap_up{device="tap0"} 1
		penstock_tap_parked{device="tap0"} 23
		penstock_tap_parked_proven{device="tap0"} 4
		penstock_tap_parked_limit{device="tap0"} 2000
		penstock_tap_frames_total{device="tap0",direction="in"} 1001
		penstock_tap_frames_total{device="tap0",direction="out"} 1003
		penstock_tap_bytes_total{device="tap0",direction="in"} 100200
		penstock_tap_bytes_total{device="tap0",direction="out"} 100400
		penstock_tap_out_drops_total{device="tap0"} 5
		penstock_tap_foreign_frames_total{device="tap0"} 20
		penstock_tap_bad_frames_total{device="tap0"} 21
		penstock_tap_retransmits_total{device="tap0"} 22
		penstock_tap_syns_total{device="tap0"} 106
		penstock_tap_syn_repeats_total{device="tap0"} 207
		penstock_tap_syn_drops_total{device="tap0",reason="full"} 10
		penstock_tap_syn_drops_total{device="tap0",reason="share"} 11
		penstock_tap_syn_drops_total{device="tap0",reason="checksum"} 12
		penstock_tap_syn_resets_total{device="tap0"} 8
		penstock_tap_syn_silent_total{device="tap0"} 9
		penstock_tap_resets_ignored_total{device="tap0"} 13
		penstock_tap_cookies_sent_total{device="tap0"} 114
		penstock_tap_cookies_proven_total{device="tap0"} 95
		penstock_tap_cookies_bad_total{device="tap0"} 16
		penstock_tap_released_total{device="tap0"} 97
		penstock_tap_accepted_total{device="tap0"} 98
		penstock_tap_handshake_timeouts_total{device="tap0"} 19`)
	s.Drain()
	expect(t, s, "the device is down", `penstock_tap_up{device="tap0"} 0`)
}

// So does what is forwarded, and what the servers' device has carried.
func TestForwardStory(t *testing.T) {
	s := newStage(t, strings.Fields("-loops 2 -tap tap0,flow-table=1000 -tap tap1,side=servers,address=10.0.0.9/24 -pool app "+
		"-virtual web,listen=198.18.0.9:80,pool=app,front=tap,mode=forward,snat=10.0.0.9 -member 10.0.0.1:80,pool=app"))
	expect(t, s, "with two devices", `
		penstock_tap_up{device="tap0"} 1
		penstock_tap_up{device="tap1"} 1
		penstock_tap_frames_total{device="tap0",direction="in"} 1001
		penstock_tap_frames_total{device="tap1",direction="in"} 4001
		penstock_tap_frames_total{device="tap1",direction="out"} 4003
		penstock_tap_bytes_total{device="tap1",direction="in"} 400200
		penstock_tap_bytes_total{device="tap1",direction="out"} 400400
		penstock_tap_out_drops_total{device="tap1"} 46
		penstock_tap_missed_frames_total{device="tap0"} 23
		penstock_tap_missed_frames_total{device="tap1"} 47
		penstock_tap_forwarded_connections{device="tap0"} 2025
		penstock_tap_forwarded_lingering{device="tap0"} 26
		penstock_tap_forwarded_limit{device="tap0"} 2000
		penstock_tap_forwarded_syns_total{device="tap0"} 5026
		penstock_tap_forwarded_segments_total{device="tap0",direction="up"} 3001
		penstock_tap_forwarded_segments_total{device="tap0",direction="down"} 3002
		penstock_tap_forwarded_bytes_total{device="tap0",direction="up"} 300300
		penstock_tap_forwarded_bytes_total{device="tap0",direction="down"} 300400
		penstock_tap_passed_on_total{device="tap0"} 33
		penstock_tap_pass_drops_total{device="tap0"} 34
		penstock_tap_ports_out_total{device="tap0"} 35
		penstock_tap_flows_full_total{device="tap0"} 36
		penstock_tap_no_route_total{device="tap0"} 37
		penstock_tap_server_timeouts_total{device="tap0"} 38
		penstock_tap_server_refusals_total{device="tap0"} 39
		penstock_tap_stray_segments_total{device="tap0"} 40
		penstock_tap_ttl_drops_total{device="tap0"} 41
		penstock_tap_too_big_total{device="tap0"} 42
		penstock_tap_icmp_translated_total{device="tap0"} 43
		penstock_tap_spoofed_resets_total{device="tap0"} 44
		penstock_tap_reset_probes_total{device="tap0"} 45
		penstock_member_connection_limit{member="10.0.0.1:80",pool="app"} 64512`)
	s.Drain()
	expect(t, s, "the devices are down", `penstock_tap_up{device="tap1"} 0`)
}

// A member that was removed takes its numbers along, and a new one with its
// number starts from its own.
func TestMembersComeAndGo(t *testing.T) {
	s := newStage(t, flags)
	next := s.Config().Clone()
	if err := next.AddMember("app", config.Setting{Key: "address", Value: "[::1]:80"}); err != nil {
		t.Fatal(err)
	}
	if err := next.RemoveMember("app", "10.0.0.1:80"); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(s.Config(), next); err != nil {
		t.Fatal(err)
	}
	text := scrape(t, s)
	if strings.Contains(text, `member="10.0.0.1:80"`) {
		t.Error("the removed one is there")
	}
	expect(t, s, "the new one", `
		penstock_member_connections{member="[::1]:80",pool="app"} 0
		penstock_node_connections{node="::1"} 0
		penstock_member_dials_total{member="10.0.0.2:80",pool="app"} 2
		penstock_member_dials_total{member="10.0.0.1:25",pool="mx"} 3`)
}

// The names are as Prometheus wants them, and the collector says the truth
// about what it collects.
func TestLint(t *testing.T) {
	s := newStage(t, append([]string{"-tap=tap0"}, flags...))
	problems, err := testutil.CollectAndLint(metrics.NewCollector(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(metrics.NewCollector(s))
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
	text := scrape(t, newStage(t, flags))
	for _, name := range []string{"penstock_build_info{", "go_goroutines ", "process_open_fds "} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

// Scrapes while clients come and go; for the race detector.
func TestScrapeUnderLoad(t *testing.T) {
	s := newStage(t, flags)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if s.Arrive("web", stage.Client(i%50)); s.Served() > 0 {
				s.Release()
			}
		}
	})
	h := metrics.Handler(s)
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
	h := metrics.Handler(newStage(b, append(members(100), "-listen=127.0.0.1:1")))
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}
