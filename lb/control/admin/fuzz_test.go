package admin_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"penstock/lb/control/admin"
	"penstock/lb/control/stage"
)

// place has one of everything.
var place = strings.Fields(`-virtual web,listen=127.0.0.1:80,pool=app -pool app
	-member 10.0.0.1:80,pool=app,connection-limit=1 -member [::1]:80,pool=app,connection-limit=2
	-tap tap0,address=10.9.0.9/24 -virtual tap,listen=198.18.0.9:80,pool=app,front=tap
	-virtual fwd,listen=198.18.0.8:80,pool=fwd,front=tap,mode=forward,snat=10.9.0.8 -pool fwd -member 10.9.0.1:80,pool=fwd`)

// FuzzPatch: no body panics, an error changes nothing, and what is in force
// is always something that the flags could have said.
func FuzzPatch(f *testing.F) {
	f.Add(uint8(8), `{"syn-proof": "always", "syn-share": 3, "refuse": "drop", "front": "tap"}`)
	for _, body := range []string{
		`{"snat": "none"}`, `{"snat": "10.9.0.7/10.9.0.8", "mode": "forward"}`, `{"snat": "10.9.0.1"}`, `{"pool": "app"}`,
		`{"keepalive": "1m"}`, `{"mode": "tcp"}`, `{"snat": ["10.9.0.7"]}`,
	} {
		f.Add(uint8(10), body)
	}
	f.Add(uint8(11), `{"send-proxy-protocol": "v1"}`)
	f.Add(uint8(4), `{"pool": "fwd", "address": "10.8.0.1:80"}`)
	f.Add(uint8(4), `{"pool": "fwd", "address": "10.9.0.2:80"}`)
	for i, body := range []string{
		`{"queue-time-limit": "20s", "queue-depth-limit": 5}`, `{"connection-limit": 3, "state": "offline"}`,
		`{"connection-limit": -1}`, `{"pool": "app", "address": "10.0.0.3:80"}`, `{"a": {"b": [1]}}`, `{"a":1,"a":1}`,
		`{"older": "1s", "client": "10.0.0.0/8", "queue": "pool"}`, `{"queue-on-connection-limit": false}`, `{}`, ``, `[`,
		`{"queue-time-limit": 1e999}`, "{\"monitor-send\": \"\\u0000\\ud800\"}", `{"trusted-proxies": "10.0.0.0/8/::/0"}`,
		`{"monitor": "http", "monitor-recv": "x"}`, `{"persist": "source/24/64", "ratio": 3}`,
		`{"syn-proof": "off", "syn-share": 0, "refuse": "drop"}`, `{"front": "tap", "syn-share": "5"}`, `{"refuse": "http-503"}`,
	} {
		f.Add(uint8(i), body)
	}
	paths := []string{
		"PATCH /v1/pools/app", "PATCH /v1/virtuals/web", "PATCH /v1/members/app/10.0.0.1:80", "PATCH /v1/nodes/10.0.0.1",
		"POST /v1/members", "POST /v1/pools/app/flush", "POST /v1/pools/app/pause", "DELETE /v1/members/app/[::1]:80",
		"PATCH /v1/virtuals/tap", "GET /v1/tap",
		"PATCH /v1/virtuals/fwd", "PATCH /v1/pools/fwd",
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		s, err := stage.New(place)
		if err != nil {
			t.Fatal(err)
		}
		before, flags := s.Config(), s.Config().Flags()
		method, path, _ := strings.Cut(paths[int(which)%len(paths)], " ")
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		admin.Handler(s, s).ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		if w.Code >= 300 && s.Config() != before {
			t.Errorf("%d, and the configuration has changed", w.Code)
		}
		if now := before.Flags(); strings.Join(now, " ") != strings.Join(flags, " ") {
			t.Errorf("what was in force was written to: %q", now)
		}
		if _, err := stage.New(s.Config().Flags()); err != nil {
			t.Errorf("in force is what no flag can say: %v", err)
		}
	})
}

// FuzzWaiters: no query panics or is answered with nonsense.
func FuzzWaiters(f *testing.F) {
	for _, query := range []string{"", "client=10.0.0.0/8&older=2s", "skip=1&limit=5", "client=::1", "a;b", "%zz", "older=-1", "client=::ffff:1.2.3.4/97"} {
		f.Add(query)
	}
	s, err := stage.New(place)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 5 {
		s.Arrive("web", stage.Client(i))
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/v1/waiters", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		admin.Handler(s, s).ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 400 {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}
