// Package metrics shows the numbers of a running proxy to Prometheus.
//
//	mux.Handle("/metrics", metrics.Handler(view))
//
// Everything is read from the View when somebody asks, so the data path pays
// nothing for it: there is no counter here. A scrape reads a few atomics for
// each object and takes no lock that a loop takes.
//
// Names begin with penstock_, then the kind of object: virtual, pool, member,
// node. Times are seconds, sizes are bytes. A limit that is not set, and a
// queue of any length, is +Inf, so that a quotient of the two makes sense.
// Names of the queue follow F5: connq_depth, connq_age_head and so on.
// Ages and counts of a pool are kept over its own queue and those of its
// members together; only the depth is told apart (connq_depth of the pool,
// of each member, and connq_all_depth for the sum).
//
// Each number is exact, or off by those connections that are on their way at
// this moment; two numbers of one scrape are not from the same instant.
package metrics
