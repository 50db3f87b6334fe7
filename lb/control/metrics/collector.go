package metrics

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Collector reads a View whenever it is scraped.
type Collector struct {
	view View

	process  table[View]
	virtuals table[*virtualSample]
	pools    table[*poolSample]
	members  table[*memberSample]
	nodes    table[*nodeSample]
	tap      table[*tapSample]
	links    table[*linkSample]

	// Histograms are many series each. Members, of which there may be
	// thousands, have none; the admin API shows them.
	virtualWaits []waits
	poolWaits    []waits
}

// NewCollector returns a collector of what a View shows.
func NewCollector(v View) *Collector {
	c := &Collector{
		view: v, process: processTable(), virtuals: virtualTable(), pools: poolTable(),
		members: memberTable(), nodes: nodeTable(), tap: tapTable(), links: linkTable(),
	}
	c.virtualWaits, c.poolWaits = waitsOf(&c.virtuals), waitsOf(&c.pools)
	return c
}

// Describe is for Prometheus.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	c.process.describe(ch)
	c.virtuals.describe(ch)
	c.pools.describe(ch)
	c.members.describe(ch)
	c.nodes.describe(ch)
	c.tap.describe(ch)
	c.links.describe(ch)
	for _, w := range slices.Concat(c.virtualWaits, c.poolWaits) {
		ch <- w.desc
	}
}

// Collect is for Prometheus. It may be called by several goroutines at once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	s := read(c.view)
	c.process.collect(ch, c.view)
	for i := range s.virtuals {
		v := &s.virtuals[i]
		c.virtuals.collect(ch, v, v.name)
		collectWaits(ch, c.virtualWaits, v.queue, v.name)
	}
	for i := range s.pools {
		p := &s.pools[i]
		c.pools.collect(ch, p, p.name)
		collectWaits(ch, c.poolWaits, p.all, p.name)
	}
	for i := range s.members {
		c.members.collect(ch, &s.members[i], s.members[i].pool, s.members[i].address)
	}
	for i := range s.nodes {
		c.nodes.collect(ch, &s.nodes[i], s.nodes[i].address)
	}
	if t := s.tap; t != nil {
		c.tap.collect(ch, t, t.device)
	}
	for i := range s.links {
		c.links.collect(ch, &s.links[i], s.links[i].device)
	}
}

// mostScrapes is how many may be answered at once; more are told to come
// back.
const mostScrapes = 4

// Handler answers scrapes with what a View shows, and with the process's own
// numbers.
func Handler(v View) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		NewCollector(v), build(),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: mostScrapes})
}
