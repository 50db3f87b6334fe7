package cases

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// api asks a proxy's admin socket.
type api struct {
	t      testing.TB
	client *http.Client
}

func newAPI(t testing.TB, socket string) api {
	return api{t, &http.Client{
		Timeout: patience,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}},
	}}
}

func (a api) close() { a.client.CloseIdleConnections() }

// get returns what the API says under a path.
func (a api) get(path string) string {
	a.t.Helper()
	r, err := a.client.Get("http://admin" + path)
	if err != nil {
		a.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		a.t.Fatalf("GET %s: %s %v\n%s", path, r.Status, err, b)
	}
	return string(b)
}

// poolState is what the API says of a pool, as far as tests look at it.
type poolState struct {
	Connections struct{ Current int } `json:"connections"`
	Connq       struct {
		Depth     int     `json:"depth"`
		Serviced  int     `json:"serviced"`
		AgeHeadMs float64 `json:"ageHeadMs"`
	} `json:"connq"`
	EffectiveDepth  *int `json:"effectiveDepth"`
	Expired         int  `json:"expired"`
	Overflowed      int  `json:"overflowed"`
	Abandoned       int  `json:"abandoned"`
	Requeued        int  `json:"requeued"`
	RefusedNoMember int  `json:"refusedNoMember"`
	Members         []struct {
		DialFailures int `json:"dialFailures"`
	} `json:"members"`
}

func (p *proxy) pool() (s poolState) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.api.get("/v1/pools/p")), &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// depth returns how many clients are parked.
func (p *proxy) depth() int { return p.pool().Connq.Depth }

// inUse returns how many slots are.
func (p *proxy) inUse() int { return p.pool().Connections.Current }

// awaitDepth waits until n clients are parked.
func (p *proxy) awaitDepth(n int) {
	p.t.Helper()
	await(p.t, patience, itoa(n)+" parked", func() bool { return p.depth() == n })
}

// accepted returns how many clients have been, ever.
func (p *proxy) accepted() int {
	p.t.Helper()
	var s struct{ Connections struct{ Total int } }
	if err := json.Unmarshal([]byte(p.api.get("/v1/virtuals/v")), &s); err != nil {
		p.t.Fatal(err)
	}
	return s.Connections.Total
}

// settled has all loops stand still once between two turns: who gives slots on
// tells how many when it has done so, and who got one may have left by then.
func (p *proxy) settled() {
	p.t.Helper()
	p.waiters("?limit=1")
}

// metric returns a number of /metrics by its name and labels, -1 if it is not there.
func (p *proxy) metric(series string) float64 {
	p.t.Helper()
	for line := range strings.Lines(p.api.get("/metrics")) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return f
		}
	}
	return -1
}

// awaitIdle waits until nobody is there any more: all that is counted as
// current is 0.
func (p *proxy) awaitIdle() {
	p.t.Helper()
	await(p.t, patience+leaving(), "all current counters 0", func() bool {
		return p.metric("penstock_descriptors") == 0 && p.depth() == 0 && p.inUse() == 0
	})
}
