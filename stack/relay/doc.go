// Package relay moves the bytes of proxied connections from one socket to the
// other, in order, and tells how each direction ended.
//
// A Flow is one direction. Pump moves what can be moved now, first by copying
// through one buffer a loop, and once two reads in a row were full by
// splice(2) through a borrowed pipe. It reads only what it can pass on: while
// the destination has no room, the source is left alone, and its peer feels
// the kernel's window. So a Flow holds at most one buffer or one pipe of
// bytes, and only while its destination is stuck.
//
// The package opens and closes no socket. It owns the pipes and buffers, and
// gets them back through Drop.
package relay
