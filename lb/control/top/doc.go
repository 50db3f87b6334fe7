// Package top is "penstock top": a running proxy, live in a terminal.
//
//	os.Exit(top.Run(args, os.Stdin, os.Stdout, os.Stderr, config.OS()))
//
// It asks the admin interface as package ctl does, once an interval, and only
// reads. On a terminal it takes the whole screen and gives it back however it
// ends: on q, on a signal, when it is stopped with Ctrl-Z, and on a panic.
// Anywhere else, and with -once, it prints frames of plain text.
//
// What is on a frame follows the way of a connection: virtual servers, the TAP
// device if there are clients on one, pools,
// the members of one pool that is chosen, and who waits there. A frame fits
// its screen: what has no room is left out, the least important first, and
// how many lines are missing is said.
//
// What comes from the proxy is printed as ASCII; any other character is shown
// as "?", so that no name can steer the terminal or shift a column.
package top
