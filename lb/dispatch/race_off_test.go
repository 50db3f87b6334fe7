//go:build !race

package dispatch

const slower = 1
