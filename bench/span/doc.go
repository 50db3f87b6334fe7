// Package span is distributions of a span of time, as they are written in
// flags and scenario files: how long a client has patience, how long it thinks,
// how long a server takes.
//
//	5ms              always
//	exp:5ms          exponential, with this mean
//	uniform:1ms..9ms evenly between the two
package span
