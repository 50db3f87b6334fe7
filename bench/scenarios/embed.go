// Package scenarios holds the scenarios that come with penbench: a file each,
// compiled in.
package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"penstock/bench/scenario"
)

//go:embed *.bench
var files embed.FS

const suffix = ".bench"

// order is how the scenarios are listed and run; all others come after.
var order = []string{
	"short", "keepalive", "steady", "bulk-1", "bulk-16", "parked-memory", "idle-memory",
	"release-latency", "overload-10x", "churn-with-aborts", "refusing-member", "unfair-sender",
	"limit-1-many-cores", "reload-under-load", "queue-cost",
	"tap-short", "tap-bulk", "tap-release-latency", "syn-park-memory", "syn-park-rate", "syn-flood", "syn-generator",
	"fwd-bulk", "fwd-keepalive", "fwd-short", "fwd-established",
}

// Names are the scenarios there are, in the order to show them.
func Names() []string {
	names := slices.Clone(order)
	entries, _ := fs.ReadDir(files, ".") // an embedded folder can be read
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), suffix)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Text is a scenario's file.
func Text(name string) (string, error) {
	text, err := files.ReadFile(name + suffix)
	if err != nil {
		return "", fmt.Errorf("scenario %q is not one of %s", name, strings.Join(Names(), ", "))
	}
	return string(text), nil
}

// All are all scenarios, in the order of Names.
func All() (all []*scenario.Scenario, err error) {
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			return nil, err
		}
		s, err := scenario.Parse(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
