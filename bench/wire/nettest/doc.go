// Package nettest gives a test a network of its own, with a link in it.
package nettest
