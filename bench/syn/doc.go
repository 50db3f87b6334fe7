// Package syn is a client for millions: it opens TCP handshakes by frames that
// it writes itself, from addresses that no machine has, and so needs neither a
// socket nor a port nor a descriptor for any of them.
//
//	var cfg syn.Config
//	cfg.Bind(flags)                          // or set the fields
//	result, err := syn.Run(ctx, cfg, syn.Events{})
//
// Each handshake has a number, from which its address, port, initial sequence
// number and timestamp follow (crowd.go); what is kept of one that waits are 12
// bytes. A SYN looks as Linux would send it, and comes again as Linux would send
// it again, with a fresh timestamp. An answered handshake is completed: the
// request, the response, and the end are those of package client and server.
//
// Or they are kept: all are connected, and then each asks in its turn, at a steady
// rate. Several generators on a link each need addresses of their own (Config.From).
//
// What it times is on the wire: from the frame that ends a connection, and so
// frees a slot behind the proxy, to the SYN-ACK that comes next, by the kernel's
// own time for that frame. How late this program is itself plays no part in it.
//
// Source and target must be addresses for benchmarks (198.18.0.0/15) or private
// ones: nothing of this is for the Internet.
//
// One thread does it all. `penbench syn -sink` shows what that can do.
package syn
