//go:build !race

package flow

const slower = 1
