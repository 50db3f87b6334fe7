//go:build !race

package cases

// raced says that the tests, and so the proxy, run with the race detector.
const raced = false

const raceFactor = 1
