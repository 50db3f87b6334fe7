package metrics

import "github.com/prometheus/client_golang/prometheus"

// series is one metric of a kind of object.
type series[T any] struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(T) float64
}

// table is all metrics of a kind of object.
type table[T any] struct {
	kind   string   // of object: the first word of all names
	labels []string // that tell one object from another
	rows   []series[T]
}

func (t *table[T]) gauge(name, help string, value func(T) float64, fixed ...string) {
	t.add(prometheus.GaugeValue, name, help, value, fixed)
}

func (t *table[T]) counter(name, help string, value func(T) float64, fixed ...string) {
	t.add(prometheus.CounterValue, name+"_total", help, value, fixed)
}

// add adds a row. fixed is a label and its value, for rows that share a name.
func (t *table[T]) add(kind prometheus.ValueType, name, help string, value func(T) float64, fixed []string) {
	t.rows = append(t.rows, series[T]{t.desc(name, help, fixed), kind, value})
}

func (t *table[T]) desc(name, help string, fixed []string) *prometheus.Desc {
	var constant prometheus.Labels
	if len(fixed) > 0 {
		constant = prometheus.Labels{fixed[0]: fixed[1]}
	}
	return prometheus.NewDesc(prometheus.BuildFQName("penstock", t.kind, name), help, t.labels, constant)
}

func (t *table[T]) describe(ch chan<- *prometheus.Desc) {
	for _, r := range t.rows {
		ch <- r.desc
	}
}

func (t *table[T]) collect(ch chan<- prometheus.Metric, of T, labels ...string) {
	for _, r := range t.rows {
		ch <- prometheus.MustNewConstMetric(r.desc, r.kind, r.value(of), labels...)
	}
}
