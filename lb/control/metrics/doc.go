// Package metrics shows the numbers of a running proxy to Prometheus.
//
//	mux.Handle("/metrics", metrics.Handler(view))
//
// Everything is read from the View when somebody asks, so the data path pays
// nothing for it: there is no counter here. A scrape reads a few atomics for
// each object and takes no lock that a loop takes.
//
// Names begin with penstock_, then the kind of object: virtual, pool, member,
// node, and tap if there is such a device. What a TAP device carries is told of
// each, all else with the name of that of clients. Times are seconds, sizes are
// bytes. A limit that is not set, and a queue of any length, is +Inf, so that a
// quotient of the two makes sense; a rate that is not known is NaN.
//
// Names of the queue follow F5: connq_depth, connq_age_head_seconds and so on
// are of one queue, a pool's own or a member's, or of a virtual server's
// clients wherever they wait; connq_all_... is a pool's with those of its
// members. What became of clients (expired_total and so on) and wait_seconds
// are, for a pool, of all its queues.
//
// Each number is exact, or off by those connections that are on their way at
// this moment; two numbers of one scrape are not from the same instant.
package metrics
