package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"penstock/bench/result"
)

// host is a machine and the documents that came from it.
type host struct {
	result.Machine
	scenarios []string
	versions  map[string][]string // by program, each once
	loads     []string
}

// Machine says where documents came from: one table if it was one machine,
// else one for each, with the names of its scenarios.
func Machine(all []*result.Document) string {
	hosts := hostsOf(all)
	var tables []string
	for _, h := range hosts {
		text := h.table()
		if len(hosts) > 1 {
			text = escape(strings.Join(h.scenarios, ", ")) + ":\n\n" + text
		}
		tables = append(tables, text)
	}
	return strings.Join(tables, "\n")
}

func hostsOf(all []*result.Document) (hosts []*host) {
	for _, d := range all {
		i := slices.IndexFunc(hosts, func(h *host) bool { return same(h.Machine, d.Machine) })
		if i < 0 {
			i = len(hosts)
			hosts = append(hosts, &host{Machine: d.Machine, versions: map[string][]string{}})
		}
		h := hosts[i]
		h.scenarios = append(h.scenarios, d.Scenario)
		h.loads = append(h.loads, d.Machine.Load)
		for name, v := range d.Machine.Versions {
			if !slices.Contains(h.versions[name], v) {
				h.versions[name] = append(h.versions[name], v)
			}
		}
	}
	return hosts
}

// same machines differ in load and in what ran on them at most.
func same(a, b result.Machine) bool {
	return a.Kernel == b.Kernel && a.CPU == b.CPU && a.Cores == b.Cores && gib(a.Memory) == gib(b.Memory) && a.Network == b.Network
}

// number is 0 for what is none.
func number(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

func (h *host) table() string {
	slices.SortFunc(h.loads, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	lines := [][]string{
		{"", ""},
		{"kernel", h.Kernel},
		{"processor", fmt.Sprintf("%s, %d cores", h.CPU, h.Cores)},
		{"memory", gib(h.Memory)},
		{"network", h.Network},
		{"load before", strings.Join(slices.Compact([]string{h.loads[0], h.loads[len(h.loads)-1]}), " to ")},
	}
	for _, name := range slices.Sorted(maps.Keys(h.versions)) {
		lines = append(lines, []string{name, strings.Join(h.versions[name], ", ")})
	}
	return Table(lines)
}
