package plots

import "strings"

// axisNames say in words what a metric is, with its unit.
var axisNames = map[string]string{
	"conn/s":          "connections a second",
	"req/s":           "requests a second",
	"Gb/s":            "throughput, Gb/s",
	"CPU µs/conn":     "proxy's CPU time a connection, µs",
	"CPU µs/req":      "proxy's CPU time a request, µs",
	"CPU s/GB":        "proxy's CPU time a gigabyte, s",
	"B/client":        "proxy's memory a waiting client, B",
	"B/pair":          "proxy's memory a proxied pair, B",
	"B/waiter":        "memory a waiter, B",
	"fds/client":      "descriptors a waiting client",
	"fds/pair":        "descriptors a proxied pair",
	"served %":        "served, % of those due",
	"gave up %":       "gave up, % of those due",
	"of capacity %":   "served, % of the servers' capacity",
	"ghosts":          "ghost connections to servers",
	"overtaken %":     "overtaken, % of clients",
	"behind ms":       "most that an overtaker came later, ms",
	"fairness":        "fairness (Jain's index; 1 is even)",
	"machine µs/conn": "machine's CPU time a connection, µs",
	"machine s/GB":    "machine's CPU time a gigabyte, s",
	"SYN/s":           "handshakes begun a second",
	"lost %":          "SYNs lost, % of those sent",
	"CPU µs/SYN":      "proxy's CPU time a SYN, µs",
	"SYN-ACK p50 µs":  "median from a freed slot to a SYN-ACK, µs",
	"admissions/s":    "admissions a second",
	"latency p50 ms":  "median latency, ms",
	"p50 ms":          "median latency, ms",
	"wait p50 ms":     "median wait, ms",
	"handover p50 µs": "median hand-over, µs",
}

// axisName falls back to the metric's own name; a percentile becomes words.
func axisName(metric string) string {
	if name, ok := axisNames[metric]; ok {
		return name
	}
	words := strings.Fields(metric)
	for i, w := range words {
		if strings.HasPrefix(w, "p9") && i+1 < len(words) {
			of := strings.Join(append(words[:i:i], words[i+2:]...), " ")
			if of != "wait" && of != "handover" && of != "SYN-ACK" && of != "first byte" {
				of = strings.TrimSpace(of + " latency")
			}
			return of + " that " + w[1:] + " % don't exceed, " + words[i+1]
		}
	}
	return metric
}
