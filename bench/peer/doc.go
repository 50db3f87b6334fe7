// Package peer knows how each proxy is set up, and why so: as its users would,
// and so that the comparison is fair.
package peer
