//go:build !race

package persist

const slower = 1
