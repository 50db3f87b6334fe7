// Package kernel is the front end on kernel sockets: an event loop for each
// core, its listeners, its timers, and the budget of descriptors they share.
//
// It stands on gnet's poller and socket packages, not on its engine: see
// ARCHITECTURE.md for why. In order of use:
//
//	l, err := kernel.NewLoop(budget, handler)
//	err = l.Listen(i, addr, options)     for each virtual server
//	err = l.Run()                        on a goroutine of its own, until Stop
//
// All else is called from within the handler, on the loop's own goroutine,
// except Wake, Do and Stop, which any goroutine may call. Another goroutine may
// do the same while the loop stands in a function that was given to Do.
//
// A socket is registered once, edge-triggered, for both directions, and stays
// so for its whole life. The handler remembers what was ready.
//
// # Events that come too late
//
// The kernel hands over events in batches. A socket that is closed while a
// batch is handled may still have an event in it, and its descriptor may be a
// new connection's by then. The loop knows which descriptors this can be, and
// marks the first event of their next owner Unsure: a hint to look, not a
// fact to rely on.
package kernel
