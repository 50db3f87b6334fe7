// Package wire sends and receives whole Ethernet frames on a network device, by
// packet(7) sockets, as fast as one thread can:
//
//	port, err := wire.Find("tap0")
//	s, err := wire.NewSender(port)
//	copy(s.Next(len(frame)), frame)      // as often as one likes
//	left, err := s.Flush()               // ErrFull: the device has no room for the first of them
//	r, err := wire.NewReceiver(port, wire.FromTCP(proxy, clients), 1<<12)
//	for frame, at, ok := r.Next(); ok; frame, at, ok = r.Next() { ... }
//
// A Sender hands a batch to the kernel in one call, past the queueing
// discipline; a Receiver reads a ring that the kernel fills, each frame with the
// time at which it was on the device, so that the reader's own lateness is not
// in what is measured.
//
// All is of the network of the calling thread, and needs CAP_NET_RAW there. A
// Sender or Receiver is for one goroutine at a time, and its maker closes it.
package wire
