// Package client makes work for a TCP proxy, or for anything else that takes
// connections, and tells what became of it.
//
//	var cfg client.Config
//	cfg.Bind(flags)                          // or set the fields
//	result, err := client.Run(ctx, cfg, client.Events{})
//
// In the open model (Config.Arrivals) each connection is due at a time that is
// known beforehand. It is timed from then, whether or not the client got round
// to it: who stalls is charged with all who came meanwhile. In the closed model
// a number of flows each begin again when they have ended; a flow that waits
// asks nothing, so a stall shows once only. Measure latency with the first,
// what is the most with the second.
//
// A client costs little, since it shares the machine with what it measures. It
// is a few event loops, edge-triggered, without a goroutine, a timer or an
// allocation per connection. What it receives is thrown away inside the kernel,
// but for the bytes that say whose answer it is.
//
// Every way to end is told apart (tally.Outcome), and nothing is retried in
// silence. Each request begins with a token (see Config.Request), which the
// server gives back, so that an answer to somebody else is found out.
package client
