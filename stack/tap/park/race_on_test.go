//go:build race

package park

// slower is how much less the long tests do under the race detector.
const slower = 10
