package top

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"penstock/lb/control/ctl"
)

// asker is a ctl.Client.
type asker interface {
	Get(ctx context.Context, path string, v any) error
	Address() string
}

// sample is one look at a proxy. Its parts are asked for one after the other,
// so they may be some milliseconds apart.
type sample struct {
	at       time.Time
	virtuals []ctl.Virtual
	pools    []ctl.Pool
	taps     []ctl.Tap // one at most
	waiters  ctl.WaiterPage
	of       string // the pool whose waiters they are
}

// lookAt asks for all that is shown. If no pool is chosen yet, or the one that
// is has gone, the waiters are those of the first.
func lookAt(ctx context.Context, c asker, pool string, waiters int) (*sample, error) {
	var v struct{ Virtuals []ctl.Virtual }
	if err := c.Get(ctx, "/v1/virtuals", &v); err != nil {
		return nil, err
	}
	var p struct{ Pools []ctl.Pool }
	if err := c.Get(ctx, "/v1/pools", &p); err != nil {
		return nil, err
	}
	s := &sample{virtuals: v.Virtuals, pools: p.Pools}
	if slices.ContainsFunc(s.virtuals, onTap) {
		s.taps = make([]ctl.Tap, 1)
		if err := c.Get(ctx, "/v1/tap", &s.taps[0]); err != nil {
			return nil, err
		}
	}
	if len(s.pools) == 0 {
		return s, nil
	}
	s.of = s.pools[0].Name
	for i := range s.pools {
		if s.pools[i].Name == pool {
			s.of = pool
		}
	}
	path := fmt.Sprintf("/v1/waiters?pool=%s&limit=%d", url.QueryEscape(s.of), waiters)
	if err := c.Get(ctx, path, &s.waiters); err != nil {
		return nil, err
	}
	return s, nil
}

func onTap(v ctl.Virtual) bool { return v.Front == "tap" }

// unknown is a rate that can't be told.
const unknown = -1

// rate is how fast a counter grew from one sample to the next: per second, or
// unknown if there was no sample before, or the counter began anew.
func rate(seconds float64, before, now int64, known bool) float64 {
	if !known || seconds <= 0 || now < before {
		return unknown
	}
	return float64(now-before) / seconds
}

// seconds between the two samples.
func (v *view) seconds() float64 {
	if v.before == nil {
		return 0
	}
	return v.current.at.Sub(v.before.at).Seconds()
}

// rateOf is the rate of a counter of an object that has a name.
func rateOf[T any](v *view, before map[string]T, name string, now T, count func(*T) int64) float64 {
	b, ok := before[name]
	return rate(v.seconds(), count(&b), count(&now), ok)
}

// byName finds the objects of the sample before.
func byName[T any](list []T, name func(*T) string) map[string]T {
	m := make(map[string]T, len(list))
	for i := range list {
		m[name(&list[i])] = list[i]
	}
	return m
}
