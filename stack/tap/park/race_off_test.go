//go:build !race

package park

const slower = 1
