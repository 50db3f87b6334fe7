// Package due keeps deadlines of a loop's connections: one each at most, and
// the earliest first. Nothing in it points anywhere, so the garbage collector
// does not look inside, and it is no larger than the connections are many:
// who no longer waits leaves at once.
package due
