// Package arrival is the schedule of an open model: when each client is due,
// whatever has become of those before it.
//
// A schedule is phases, one after the other, comma-separated:
//
//	constant:RATE    evenly, so many a second, the first at once
//	poisson:RATE     independent of each other, so many a second on average
//	burst:N@EVERY    N at the same moment, at once and again each EVERY
//	ramp:FROM..TO    evenly, at a rate that goes from one to the other
//
// each followed by /DURATION, which only the last may lack, and a ramp not:
//
//	constant:100/2s,ramp:100..500/5s,poisson:500
//
// Times are in nanoseconds from the beginning of the schedule. The same text
// and seed always give the same times. Several loops that share a schedule
// each take every n-th of its arrivals, so that together they have exactly
// those that one would have.
package arrival
