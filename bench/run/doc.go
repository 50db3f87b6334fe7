// Package run is the coordinator: it plays a scenario with each proxy in turn,
// round by round, and gathers what clients and servers saw into one document.
//
// In every round each proxy is started anew, with new servers behind it and new
// clients before it, does the work, and is ended; the order of the proxies
// turns round every time. So each meets the same machine in the same minute,
// and what counts, the ratio, is formed within a round.
//
// One play goes so:
//
//	servers listen; proxies listen; clients are started and say "ready"
//	holders connect, until all stand; memory is taken if the scenario asks
//	the other clients begin together; when the first begins to count, servers
//	  are told to count, CPU time is taken, and events (reloads) begin
//	each client says what it saw, CPU time being taken when the time is up
//	holders end; servers come to no connection, or what is left is stranded
//	proxies that take clients from a TAP say what handshakes they know of
//	servers say what they saw
//
// On a link (package stage) clients and proxy are joined by a device of this
// play's own: a TAP if the proxy is the other end of such, else a veth.
//
// A proxy that fails does no more rounds, and its words are kept: it does not
// end the run.
package run
