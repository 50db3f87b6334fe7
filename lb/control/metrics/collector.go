package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"penstock/lb/dispatch"
)

// Collector reads a View whenever it is scraped.
type Collector struct {
	view View

	process  table[View]
	virtuals table[*virtualSample]
	pools    table[*poolSample]
	members  table[*memberSample]
	nodes    table[*nodeSample]
	waits    []waits
}

// waits is a histogram of a pool by how the wait ended.
type waits struct {
	desc *prometheus.Desc
	of   func(*dispatch.PoolStats) *dispatch.Waits
}

// NewCollector returns a collector of what a View shows.
func NewCollector(v View) *Collector {
	c := &Collector{
		view: v, process: processTable(), virtuals: virtualTable(), pools: poolTable(),
		members: memberTable(), nodes: nodeTable(),
	}
	c.wait("served", func(s *dispatch.PoolStats) *dispatch.Waits { return &s.ServedWaits })
	c.wait("expired", func(s *dispatch.PoolStats) *dispatch.Waits { return &s.ExpiredWaits })
	c.wait("abandoned", func(s *dispatch.PoolStats) *dispatch.Waits { return &s.AbandonedWaits })
	return c
}

func (c *Collector) wait(outcome string, of func(*dispatch.PoolStats) *dispatch.Waits) {
	c.waits = append(c.waits, waits{c.pools.desc("wait_seconds",
		"Waits by how they ended; expired are also those refused since no member took any.",
		[]string{"outcome", outcome}), of})
}

// Describe is for Prometheus.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	c.process.describe(ch)
	c.virtuals.describe(ch)
	c.pools.describe(ch)
	c.members.describe(ch)
	c.nodes.describe(ch)
	for _, w := range c.waits {
		ch <- w.desc
	}
}

// Collect is for Prometheus. It may be called by several goroutines at once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	s := read(c.view)
	c.process.collect(ch, c.view)
	for i := range s.virtuals {
		c.virtuals.collect(ch, &s.virtuals[i], s.virtuals[i].name)
	}
	for i := range s.pools {
		c.collectPool(ch, &s.pools[i])
	}
	for i := range s.members {
		c.members.collect(ch, &s.members[i], s.members[i].pool, s.members[i].address)
	}
	for i := range s.nodes {
		c.nodes.collect(ch, &s.nodes[i], s.nodes[i].address)
	}
}

func (c *Collector) collectPool(ch chan<- prometheus.Metric, p *poolSample) {
	c.pools.collect(ch, p, p.name)
	for _, w := range c.waits {
		count, sum, upTo := w.of(p.stats).Snapshot()
		ch <- prometheus.MustNewConstHistogram(w.desc, count, sum, upTo, p.name)
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
