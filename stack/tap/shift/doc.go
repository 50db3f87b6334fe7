// Package shift joins a client that was answered with a cookie to the netstack
// connection that takes over: both ends have numbers of their own for what the
// server sends, and this translates between them, in place, segment by segment.
//
// The client knows the cookie's sequence number and timestamps. netstack chose
// others when it was given the rebuilt SYN. So, of each segment,
//
//	netstack -> client (Out): sequence number and TSval are raised,
//	client -> netstack (In):  acknowledgement, SACK blocks and TSecr are lowered
//
// by what they differ. What the client counts is the same on both sides. The
// checksum is corrected by the change; one that is left to the device holds only
// the pseudo header's sum and needs no change. A TSO frame is one segment: the
// device counts on from its header.
//
// In order of use, all but In's and Out's effects being the loop's alone:
//
//	t := shift.New(connections, grace, wake)
//	t.Pend(f)                    before the rebuilt SYN is injected
//	t.Answers(func(a Answer))    after wake: netstack's SYN-ACK, or its reset
//	t.Set(&a, iss, tsval)        then inject the ACK for netstack's SYN-ACK
//	t.Remove(f, now)             when the connection was closed
//	t.Expire(now)                now and then
//
// The port calls In for each segment before it injects it, term's link endpoint
// calls Out for each before it leaves; either may say that it should not. Out may
// be called by any goroutine. While no connection is translated, both cost one
// atomic load.
//
// The package never sends anything, and knows nothing of cookies.
package shift
