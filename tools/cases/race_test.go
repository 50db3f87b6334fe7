//go:build race

package cases

// raced says that the tests, and so the proxy, run with the race detector.
const raced = true

// raceFactor is how much slower all may be.
const raceFactor = 5
