// Package admin is the HTTP interface of a running proxy: numbers and state,
// for people, scripts and Prometheus. It reads and changes nothing.
//
//	s, err := admin.Listen("unix:/run/penstock/admin.sock", log)
//	go s.Serve(view) // until Close
//	s.Close()
//
// What can be asked for with GET:
//
//	/healthz                     200 "ok", or 503 "draining"
//	/metrics                     package metrics
//	/v1/virtuals  /v1/virtuals/NAME
//	/v1/pools     /v1/pools/NAME
//	/v1/members   /v1/members/POOL/ADDRESS
//	/v1/nodes     /v1/nodes/ADDRESS
//
// Answers are JSON, with keys in an order that stays. "settings" has the keys
// and values of the flags. Times are milliseconds, and their keys end in Ms.
// A connection limit of 0 is none; an effectiveDepth of null is a queue of any
// length. "connq" is a pool's own queue and "connqAll" that with the queues of
// its members, as F5 has it; ages and serviced are kept over both, so only
// the depths differ.
//
// # Who may ask
//
// A Unix socket has mode 0600: its owner and root. TCP is for loopback
// addresses only, which means everybody on this host. Browsers are kept out
// of it: a request must name the server by its address or localhost, so that
// no foreign name can be made to point here, and requests that other sites
// send and that could change something are refused. Nothing here is secret to
// who may ask, but client addresses are not shown.
package admin
