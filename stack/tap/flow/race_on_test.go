//go:build race

package flow

// slower is how much less the long tests do under the race detector.
const slower = 10
