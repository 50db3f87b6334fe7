// Package snat lends out the ports of an address of ours, towards one server.
//
//	p := snat.New(loops)                    one for each server and address
//	port, ok := p.Take(loop, now, want)     for a new connection
//	loop, ok := p.Owner(port)               whose frame is this?
//	p.Give(port, now+rest)                  when the connection has ended
//
// Loops share a pool without locks: a port is a word, and whoever changes it from
// lent-to-nobody to his own by compare-and-swap has it. Each loop goes round the
// ports by itself, so that one is lent again as late as possible. For some time
// after its end a port rests: the server may still remember the old connection
// and take a new one for a piece of it.
//
// Which ports a loop wants is its own affair: those whose replies come to its
// queue (stack/tap/steer). Then no two loops want the same one.
//
// The package is pure: times are passed in, in monotonic nanoseconds. It
// allocates nothing after New. A pool is 256 KiB.
package snat
