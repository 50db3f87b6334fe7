package admin

import (
	"net/http"
	"net/netip"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// Waiter is somebody who waits.
type Waiter struct {
	dispatch.WaiterView
	Client netip.AddrPort // not valid: not known
}

// waiter is a Waiter for people.
type waiter struct {
	Position   int64  `json:"position"`
	Client     string `json:"client"` // "" not known
	Virtual    string `json:"virtual"`
	Pool       string `json:"pool"`
	Queue      string `json:"queue"` // "pool", or the member waited for
	AgeMs      ms     `json:"ageMs"`
	ExpectedMs *ms    `json:"expectedMs"` // null: not known
	Class      uint8  `json:"class"`
	Tries      uint8  `json:"tries"`
}

// waiterPage is what a list of waiters says.
type waiterPage struct {
	Total   int      `json:"total"`
	Skip    int      `json:"skip"`
	Limit   int      `json:"limit"`
	Waiters []waiter `json:"waiters"`
}

func (a api) waiters(w http.ResponseWriter, r *http.Request) {
	c := a.control.Config()
	q, err := readQuestion(c, r, nil, true)
	if err != nil {
		refuse(w, err)
		return
	}
	page, total, err := a.control.Waiters(q.Filter, q.skip, q.limit)
	if err != nil {
		refuse(w, err)
		return
	}
	n := named(a.control.Config())
	now := a.view.Now()
	answer(w, waiterPage{total, q.skip, q.limit, all(len(page), func(i int) waiter {
		return a.waiter(n, now, page[i])
	})})
}

func (a api) waiter(n names, now dispatch.Tick, w Waiter) waiter {
	o := waiter{
		Position: w.Position, Virtual: n.virtuals[int(w.Virtual)], Pool: n.pools[int(w.Pool)], Queue: "pool",
		AgeMs: msOf(int64(max(now-w.Since, 0))), Class: w.Class, Tries: w.Tries,
	}
	if w.Client.IsValid() {
		o.Client = w.Client.String()
	}
	if w.Member >= 0 {
		o.Queue = n.members[w.Member]
	}
	if rate := a.view.PoolRate(now, w.Pool); rate > 0 {
		t := msOf(int64(float64(w.Position) / rate * float64(time.Second)))
		o.ExpectedMs = &t
	}
	return o
}

// names gives names to the dispatcher's numbers.
type names struct{ virtuals, pools, members map[int]string }

func named(c *config.Config) names {
	n := names{map[int]string{}, map[int]string{}, map[int]string{}}
	for i := range c.Virtuals {
		n.virtuals[c.Virtuals[i].ID] = c.Virtuals[i].Name
	}
	for i := range c.Pools {
		n.pools[c.Pools[i].ID] = c.Pools[i].Name
		for _, m := range c.Pools[i].Members {
			n.members[m.ID] = m.Address.String()
		}
	}
	return n
}

// Match says whom a filter means, for those who know a waiter by the
// dispatcher's numbers.
func (f Filter) Match(c *config.Config, now dispatch.Tick) func(w *dispatch.WaiterView, client netip.Addr) bool {
	virtual, pool := -1, -1
	if i, err := findVirtual(c, f.Virtual); err == nil {
		virtual = c.Virtuals[i].ID
	}
	if i, err := findPool(c, f.Pool); err == nil {
		pool = c.Pools[i].ID
	}
	return func(w *dispatch.WaiterView, client netip.Addr) bool {
		return (f.Virtual == "" || int(w.Virtual) == virtual) &&
			(f.Pool == "" || int(w.Pool) == pool) &&
			(!f.Client.IsValid() || f.Client.Contains(client.Unmap())) &&
			now-w.Since >= dispatch.Tick(f.Older) &&
			(f.Queue == AnyQueue || (f.Queue == MemberQueue) == (w.Member >= 0))
	}
}
