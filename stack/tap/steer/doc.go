// Package steer chooses the queue of a TAP device that a frame comes to, so that
// both directions of a connection, and both devices, meet on one loop.
//
//	h := steer.New(seed, queues)            one for all devices
//	err := h.Attach(fd, steer.Source)       fd: any queue of the device
//	h.Queue(steer.Source, h.Endpoint(&src, port), 0)    where it will come
//
// By itself the kernel hashes addresses and ports, with a secret of its own, and
// moves a flow to the queue that it was last answered through. A program of ours
// (TUNSETSTEERINGEBPF) hashes one end of the connection, or both, and nothing
// moves a flow. Since the hash is known, a port of ours can be chosen so that the
// replies to it come to the queue that wants them.
//
// Which rule: where clients are behind the device, Source; where servers are,
// Destination. So the client's end decides on both devices, or the address and
// port of ours that stand for it. Where both are behind one device, Both: then the
// two connections meet only if the port of ours is chosen so.
//
// The program and Queue agree on plain TCP over IPv4 and IPv6: no IP options, no
// extension headers, no fragments, no VLAN tag. All else comes to queue 0: ARP,
// neighbour discovery, ICMP and its errors, UDP.
//
// A frame costs about 50 ns so, no more than the kernel's own choice. To load the
// program takes CAP_BPF, or a kernel that lets everybody; without it Attach fails
// and the device stays as it was.
package steer
