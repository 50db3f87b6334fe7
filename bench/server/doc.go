// Package server is the server behind a measured proxy: it does the work that
// is asked of it, well or badly, and checks the proxy from behind.
//
//	srv, err := server.Listen(cfg)      // from here on connections wait
//	tally, err := srv.Serve(ctx)        // until ctx is done
//
// Meanwhile srv.Count() begins the measured time. Command is all of that as a
// program.
//
// Nothing on the wire says where a message ends: requests and responses have
// the sizes of the Config. The first 8 bytes of a request are its token, the
// time in ns of CLOCK_MONOTONIC, big-endian, at which its client was due; 0 is
// none. The response begins with the token of its request.
//
// It sees:
//   - the most connections at a time, each one above a member's limit, and when
//     (member.go);
//   - in which order connections came, by their tokens (order.go), and how long
//     each had been on its way;
//   - how long a slot stood empty, from its end until the next connection, if
//     that one had been due before;
//   - ghosts: connections that the proxy opened and ended for nobody.
//
// It must cost little, since it shares the machine with what it measures: a few
// event loops, edge-triggered, without a goroutine, a timer or an allocation
// per connection. A short connection costs accept, recv, send and close; it is
// registered with epoll only if it has to wait.
package server
