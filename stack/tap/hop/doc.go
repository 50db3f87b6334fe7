// Package hop remembers which Ethernet address a client's frames came from, so
// that answers go back the same way: the last hop.
//
// So no client's address is ever asked for by ARP, there is no neighbour cache
// to overflow, and replies take the router that the request came through even
// where there are several.
//
//	t := hop.New()
//	t.Learn(&addr, mac, now)   for each frame that came in, on the loop
//	mac, ok := t.To(&addr)     for each frame that goes out, on any goroutine
//
// Most often all clients come through one router. Then the table is one word,
// nothing is kept of any client, and an address that was never seen has an
// answer too. Of those that came from elsewhere the last 65,536 are kept.
package hop
