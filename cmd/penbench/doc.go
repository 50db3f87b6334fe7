// Penbench measures TCP proxies, and checks them while it does.
//
//	penbench list                                   what can be played
//	penbench run short -proxy penstock,haproxy      play it, compare, and write a page
//	penbench run all -once                          see that everything works
//	penbench run mine.bench -set flows=500 -rounds 9
//
// A scenario says what servers, clients and proxies do; `penbench show NAME`
// prints one, and package bench/scenario says what can be in it. A run prints a
// table, and last the path of a page with plots; every figure of every round is
// in the JSON file beside it. It exits with 0; 1 if a proxy failed, or if
// penstock broke a limit, lost, stranded or overtook somebody; 2 for bad
// arguments.
//
// The parts can be run on hosts of their own:
//
//	penbench server -listen 10.0.0.2:9001 -then close
//	penbench client -target 10.0.0.1:8080 -work short -arrivals poisson:5000
//
// Packages bench/client and bench/server say what they print: lines of JSON, or
// words before a terminal and with -text. Files of such lines, from as many hosts
// as took part at the same time, are added up exactly by
//
//	penbench report host1.json host2.json
//
// `penbench core` measures the queue alone, in one process and without a socket.
//
// `penbench syn` is a client of another kind: it writes the frames of its
// handshakes itself, and so can be millions of clients that wait (package
// bench/syn). It needs a network device on which the proxy is a neighbour, and
// addresses that are nobody's on the Internet. `penbench reflect` is a server of
// that kind (package bench/reflect). Scenarios that begin with "syn", "tap" or "fwd"
// make such devices, TAPs for penstock and veths for the others, in networks of
// their own; that needs root and ip(8).
package main
