// Package route knows where servers are: by which host of the servers' link one
// is reached, its next hop, and which Ethernet address that has.
//
//	t := route.New(cfg)
//	n, ok := t.Hop(&server)              once a connection; n is kept with it
//	mac, ok := t.MAC(n, now)             for each frame
//	frame, due := t.Ask(n, now, b[:0])   if not ok; frame is to be sent, if there is one
//	t.ARP(&msg, now), t.Neighbor(&msg, now)   for what is heard on the link
//	t.Turn(now, b, send)                 once a second: what is in use is kept fresh
//
// A server that is in a network of ours is its own next hop; all others are
// behind the gateway of their family. Whoever is asked for and does not answer
// Failed. An address that is in use is confirmed again each half minute, and used
// until nobody answers for it.
//
// One Table is shared by all loops. Looking up takes no lock and allocates
// nothing; what changes the table is rare and takes one. The package sends
// nothing, and has no clock: the time is passed in, nanoseconds of any that does
// not go back.
//
// Only what was asked for is remembered: nobody can fill the table by saying
// where things are. Who is on the link can still say that he is somebody else,
// as ARP has it.
package route
