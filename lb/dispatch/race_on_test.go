//go:build race

package dispatch

// slower is how much less the concurrent tests do under the race detector.
const slower = 10
