// Package admin is the HTTP interface of a running proxy: numbers and state,
// and changes of them, for people, scripts and Prometheus.
//
//	s, err := admin.Open(admin.Config{Address: "unix:/run/penstock/admin.sock", Log: log})
//	go s.Serve(view, control) // until Close
//	s.ReloadToken()           // when files are read again
//	s.Close()
//
// What there is:
//
//	GET    /                              a page for people (package web)
//	GET    /healthz                       200 "ok", or 503 "draining"
//	GET    /metrics                       package metrics
//	GET    /v1/virtuals                   all of them
//	GET    PATCH /v1/virtuals/NAME
//	GET    /v1/pools
//	GET    PATCH /v1/pools/NAME
//	POST   /v1/pools/NAME/pause           everybody waits, until resume
//	POST   /v1/pools/NAME/resume
//	POST   /v1/pools/NAME/flush           refuses who waits: filter in body or query
//	GET    POST /v1/members               POST: the keys of -member, pool and address too
//	GET    PATCH /v1/members/POOL/ADDRESS
//	DELETE /v1/members/POOL/ADDRESS       what is connected goes on; ?now=true cuts it
//	GET    /v1/nodes
//	GET    PATCH /v1/nodes/ADDRESS
//	GET    /v1/tap                        the TAP devices, if there are any
//	GET    /v1/waiters                    who waits: filter, pool, skip, limit in the query
//
// A filter is any of client (an address, or a prefix), older (a time), queue
// (pool or member) and virtual.
//
// # Answers
//
// Answers are JSON, with keys in an order that stays. "settings" has the keys
// and values of the flags. Times are milliseconds, and their keys end in Ms.
// A connection limit of 0 is none; an effectiveDepth of null is a queue of any
// length. "connq" is a queue by itself (of a virtual server: its clients in
// all queues) and "connqAll" that of a pool with those of its members, as F5
// has it. Of the TAP device "forwarding" is null if nothing is forwarded, and
// "servers" if they have no device of their own. The outcomes of a pool (expired and so on) and its "waits" are of
// all its queues together.
//
// # Changes
//
// A body is a JSON object of the keys of the flags, with strings, numbers, or
// true and false for on and off. All of it is done, or nothing: a key that is
// not known, given twice or wrong, and keys that do not go together, are
// answered with 400 and a list of mistakes, each with key, value and why. The
// answer to a change is how the object is then. A change does not touch what
// is connected or waits, but for what it says.
//
// # Who may ask
//
// A Unix socket has mode 0600: its owner and root. TCP without a token is for
// loopback addresses only, which means everybody on this host. With a token
// all who come over TCP have to show it (Authorization: Bearer), and any
// address may be listened on; it is compared in constant time. The page alone
// is for everybody: nothing is in it, and its script asks for the token.
//
// Browsers are kept out: without a token a request must name the server by its
// address or localhost, so that no foreign name can be made to point here; what
// other sites send is refused, and a body has to be application/json. Requests
// are bounded in time and size, and so is the number of those connected.
package admin
