// Package tally is what the load generator's processes count and say: one line
// of JSON each, which a coordinator reads and adds up exactly, or Text for who runs one by hand.
//
// Times on the wire and in series are of CLOCK_MONOTONIC, in nanoseconds:
// comparable between processes of one machine, and not between machines.
package tally
