package scenario

import (
	"slices"
	"strconv"
	"strings"

	"penstock/bench/result"
)

// metrics are what a coordinator can compute of what clients, servers and the
// kernel say. More is better where it says so.
var metrics = []result.Metric{
	{Name: "conn/s", More: true},        // connections served
	{Name: "req/s", More: true},         // requests served
	{Name: "Gb/s", More: true},          // bytes that clients received, or sent
	{Name: "CPU µs/conn"},               // of the proxy
	{Name: "CPU µs/req"},                // of the proxy
	{Name: "CPU s/GB"},                  // of the proxy
	{Name: "CPU µs/packet"},             // of the proxy, each segment of those that a generator keeps
	{Name: "machine µs/conn"},           // of CPU, of everybody and the kernel
	{Name: "machine µs/req"},            // likewise
	{Name: "machine s/GB"},              // likewise
	{Name: "p50 ms"},                    // latency, as clients see it
	{Name: "p99 ms"},                    // may name a client
	{Name: "p99.9 ms"},                  //
	{Name: "wait p50 ms"},               // from due to the first byte at a server
	{Name: "wait p99 ms"},               //
	{Name: "handover p50 µs"},           // from a slot freed to the next connection
	{Name: "handover p99 µs"},           //
	{Name: "B/client"},                  // the proxy's memory, each that waits
	{Name: "B/pair"},                    // ... each that is served
	{Name: "fds/client"},                // descriptors, likewise
	{Name: "fds/pair"},                  //
	{Name: "served %", More: true},      // of what was due
	{Name: "carried %", More: true},     // of the connections that a generator keeps, that got a response
	{Name: "gave up %"},                 //
	{Name: "of capacity %", More: true}, // served, of what limits and delays allow; arrivals need -sustain for it
	{Name: "ghosts"},                    // connections without a byte
	{Name: "overtaken %"},               // of connections, by more than the server's -fifo
	{Name: "behind ms"},                 // most that an overtaker was later
	{Name: "fairness", More: true},      // Jain's index of served/due of the client processes: 1 is fair
	{Name: "lag p99 µs"},                // of the clients themselves
	{Name: "SYN/s", More: true},         // handshakes that a generator began
	{Name: "lost %"},                    // of its SYNs: the proxy does not know of them
	{Name: "CPU µs/SYN"},                // of the proxy, of a flood
	{Name: "SYN-ACK p50 µs"},            // from a slot freed to the answer to the next handshake, on the wire
	{Name: "SYN-ACK p99 µs"},            //
	{Name: "SYN-ACK p99.9 µs"},          //
	{Name: "first byte p50 µs"},         // ... to the first byte of the next response
	{Name: "first byte p99 µs"},         //
}

// MetricNames are the metrics there are. "p99 ms" may be followed by the name
// of a client.
func MetricNames() (names []string) {
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	return names
}

// ofClient is the metric that may name a client.
const ofClient = "p99 ms"

// known finds a metric, and the client that its name ends with.
func known(name string) (m result.Metric, client string, found bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m, "", true
		}
	}
	client, found = strings.CutPrefix(name, ofClient+" ")
	return result.Metric{Name: name}, client, found
}

// metric reads "NAME [more]". What a program prints has names of its own.
func (r *reading) metric(value string) error {
	name, more := strings.CutSuffix(value, " more")
	name = strings.TrimSpace(name)
	if slices.ContainsFunc(r.s.Metrics, func(m result.Metric) bool { return m.Name == name }) {
		return wrong(name, "is there already")
	}
	if m, _, found := known(name); !found && !r.program {
		return wrongf(name, "must be one of %s (%s may be followed by a client's name)", list(MetricNames()), ofClient)
	} else if found && m.More != more {
		return wrong(name, map[bool]string{true: `is better if more: must be followed by "more"`, false: `is better if less: must not be followed by "more"`}[m.More])
	}
	r.s.Metrics = append(r.s.Metrics, result.Metric{Name: name, More: more})
	return nil
}

const most = 1e18 // of a goal; larger numbers are slips

const goalForm = "must be METRIC >= or <= NUMBER, then the proxy to be compared with, if any, and \"in\" and a case, if not all, or two with a / between, if none is compared with"

// goal reads "METRIC >=|<= VALUE [PROXY] [in CASE]", or "in CASE/CASE".
func (r *reading) goal(value string) error {
	list := strings.Fields(value)
	at := slices.IndexFunc(list, func(w string) bool { return w == ">=" || w == "<=" })
	if at < 1 || at+1 >= len(list) {
		return wrong(value, goalForm)
	}
	g := result.Goal{Metric: strings.Join(list[:at], " "), Least: list[at] == ">="}
	var err error
	if g.Value, err = strconv.ParseFloat(list[at+1], 64); err != nil || !(0 <= g.Value && g.Value <= most) {
		return wrong(list[at+1], "must be a number from 0 to 1e18")
	}
	rest := list[at+2:]
	if len(rest)%2 == 1 {
		g.To, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 && rest[0] == "in" {
		g.Case, g.Over, _ = strings.Cut(rest[1], "/")
		rest = rest[2:]
	}
	if len(rest) > 0 || g.Over != "" && g.To != "" {
		return wrong(value, goalForm)
	}
	r.s.Goals = append(r.s.Goals, g)
	return nil
}

// list is how messages name what is allowed.
func list(names []string) string { return strings.Join(names, ", ") }
