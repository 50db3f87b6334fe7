package admin

import (
	"testing"

	"penstock/lb/dispatch"
)

// rated is a View of a pool of which the rate is known.
type rated struct {
	bare
	rate float64
}

func (r rated) PoolRate(dispatch.Tick, dispatch.PoolID) float64 { return r.rate }

// How long it takes is how many are before one, one's own turn included, over
// how many are served in a second.
func TestExpected(t *testing.T) {
	for _, tt := range []struct {
		rate     float64
		position int64
		want     ms // 0: not known
	}{{2, 1, 500}, {2, 3, 1500}, {1000, 1, 1}, {0, 1, 0}} {
		w := api{view: rated{rate: tt.rate}}.waiter(names{}, 0, Waiter{WaiterView: dispatch.WaiterView{Position: tt.position, Member: -1}})
		if w.ExpectedMs == nil && tt.want != 0 || w.ExpectedMs != nil && *w.ExpectedMs != tt.want {
			t.Errorf("number %d at %v a second: %v", tt.position, tt.rate, w.ExpectedMs)
		}
	}
}

func TestClientPrefix(t *testing.T) {
	for s, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "10.1.2.3/8": "10.0.0.0/8", "2001:db8::1": "2001:db8::1/128", "2001:db8::1/32": "2001:db8::/32",
		"::ffff:10.1.2.3": "10.1.2.3/32", "::ffff:10.1.2.3/104": "10.0.0.0/8", "0.0.0.0/0": "0.0.0.0/0",
		"::ffff:10.1.2.3/90": "", "10.0.0.0/33": "", "fe80::1%eth0": "", "10.0.0.1:80": "", "": "", "localhost": "",
	} {
		p, err := parseClient(s)
		if got := p.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
}
