// Package load makes work for a TCP proxy and measures it from outside: a
// client that connects to the proxy, and a server for the proxy to connect to.
//
// Use it in this order, each end in a process of its own:
//
//	srv, err := load.Listen(load.ServerConfig{Listen: addr, Request: 64, Response: 256, Then: load.Close})
//	go srv.Serve(ctx)                                  // until ctx is done
//	res, err := load.Run(ctx, load.Config{Target: proxy, Work: load.Short, ...})
//
// Run does closed-loop work: each of Flows connections starts again as soon as
// it has ended. Hold opens connections and keeps them.
//
// Both ends must cost little, since they share the machine with what they
// measure. Each is a few event loops, edge-triggered, without a goroutine, a
// timer or an allocation per connection. The client throws away what it
// receives inside the kernel, without a copy.
//
// A result tells every way to end apart (Outcome). The package takes nothing
// from the proxy, and never retries in silence.
package load
