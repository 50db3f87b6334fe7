// Package ether is a link in memory, for the tests of the TAP front end. On one
// side is a device whose queues ports read and write, on the other whoever a
// test plays: hosts with a TCP of their own, and frames that the test makes.
//
//	d := ether.New(queues)
//	d.Send(b)                  a frame to the device
//	for _, b := range d.Take() what it sent to nobody's host
//	h, err := d.Host(address)  somebody on the link
//	c, err := h.Dial(ctx, port, to)
//
// The link loses nothing by itself, and what leaves the device leaves it as from
// a real one: with all checksums done.
package ether
