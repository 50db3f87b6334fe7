// Package tap is the front end that parks the handshake itself. Clients'
// packets come in on a TAP device. A SYN for a virtual server becomes a record
// of 64 bytes and is not answered before there is a slot for it; a parked client
// costs no socket, no descriptor and no buffer.
//
// A Port is one loop's share: a queue of the device, the records of the
// handshakes that came in on it, and a netstack that takes over when a
// handshake is released. Loops share nothing but the device.
//
// In order of use:
//
//	d, err := tap.Open(config, queues)       the device
//	p, err := d.Port(i, owner)               one for each loop
//	err = p.Listen(id, virtual)              for each virtual server
//	p.Readable(now), p.Turn(now)             from the loop
//
// What becomes of a handshake is the Owner's to say; see there.
package tap
