// Package monitor asks servers whether they are well: it makes the checks
// that lb/monitor decides about. One goroutine keeps the times and reports,
// and one more lives as long as a check does.
//
//	m := monitor.New(report, log)
//	m.Set(targets)       the whole set that is wanted now; again at each change
//	m.State(key)         at any time
//	m.Close()            when it returns, no goroutine and no socket is left
//
// # Checks
//
// tcp: the server takes the connection. http: it answers a request with a
// status of 200 to 399, or, where Recv is set, with bytes that have that text
// in them, whatever else they are. A PROXY header goes first if the server
// wants one, LOCAL in version 2 and UNKNOWN in version 1: the proxy speaks for
// itself and must not look like a client.
//
// A check has lb/monitor's Limit, from the connect to the verdict: an
// interval, or a third of the timeout if that is longer. It reads 64 KiB at
// most. So a server that accepts and never answers, trickles or floods costs
// a descriptor for that time and no more.
//
// A check that finds no descriptor, port or memory on this machine says
// nothing about the server, and counts as not made.
//
// # Closing
//
// The verdict stands before the connection is closed, and the close is a
// normal one, with a FIN. A reset (SO_LINGER 0) would save us the TIME_WAIT,
// and be logged as an error by the server at each check; so would a close with
// bytes unread, which the kernel turns into a reset. Therefore the rest of the
// answer is read and thrown away, for half a second and 1 MiB at most, and
// until nothing came for a tenth of a second. A tcp check sends its FIN before
// that: most servers then close too. An http check asks the server to close
// first, which leaves the TIME_WAIT with the server. A tcp check's stays here:
// at most one for each check of the last minute, each to a port of its own, 12
// a member at the default interval.
//
// # Many members
//
// At most 64 checks, and so descriptors, exist at the same moment, and one for
// a target. Members whose last check failed and the others may each have 48 of
// them: a thousand servers that hang don't keep the well ones from being
// checked, and the other way round. Waiting for room is not counted against a
// member.
package monitor
