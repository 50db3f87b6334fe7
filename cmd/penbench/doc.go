// Penbench makes load for a TCP proxy: a client to put before it, a server to
// put behind it. Each prints what it saw as JSON, a line each.
//
//	penbench server -listen 127.0.0.1:9001 -then close
//	penbench client -target 127.0.0.1:8080 -work short -flows 64 -for 3s
//
// The server prints {"listening":ADDRESS} first, and its counts when it is told
// to end (SIGTERM or SIGINT). The client prints its result when it is done;
// with -work hold it first prints {"standing":N} once its connections are open,
// and holds them until it is told to end.
//
// Package bench/load does the work and says what the figures mean.
package main
