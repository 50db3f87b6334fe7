package metrics

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// build says which program this is: labels of a metric that is always 1.
func build() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "penstock_build_info", Help: "1, with the version of the program in its labels.", ConstLabels: buildLabels(),
	})
	g.Set(1)
	return g
}

func buildLabels() prometheus.Labels {
	l := prometheus.Labels{"version": "devel", "revision": "", "goversion": ""}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return l
	}
	l["goversion"] = info.GoVersion
	if info.Main.Version != "" {
		l["version"] = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			l["revision"] = s.Value
		}
	}
	return l
}
