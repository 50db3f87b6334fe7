// Versus measures penstock beside HAProxy: the same work, alternately, in one
// run, on loopback. What counts is the ratio, since both meet the same machine
// in the same minute.
//
//	go run ./tools/versus                              # everything, some eight minutes
//	go run ./tools/versus -work short,bulk-1 -rounds 11 -json out.json
//
// In each round each proxy is started anew, with a new server behind it, does
// the work, and is ended; the order turns round every time. Printed are the
// median and the least and most over the rounds, and of the ratios too, which
// are formed round by round. A star marks the harder of HAProxy's ways to beat. The line "direct" has no proxy: it shows what load
// client and server can do alone, and that they are not what is measured.
//
// CPU is that of the proxy's process. Client and server run on the same cores,
// so a rate also depends on how much of them they take; the last columns say
// how much everyone took.
//
// As root, everything runs in a network namespace of its own: nobody else's
// connections, ports or TIME_WAITs are in the way, and the congestion control
// can be chosen. BBR, for one, paces: on loopback it halves the speed of bulk
// work whatever the proxy does.
package main
