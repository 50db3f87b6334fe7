// Package ctl is "penstock ctl": the admin interface of a running proxy, for
// people in a terminal.
//
//	os.Exit(ctl.Run(args, os.Stdout, os.Stderr, config.OS()))
//
// It is thin. Each command is one request, or a few for "show"; what is
// allowed is decided by the proxy alone, so that a newer one can be asked by
// an older ctl. With -o json what the proxy said is printed as it came.
//
// The exit code is 0; 1 if the proxy refused or was not to be reached, with a
// line that says what and where; 2 if the command line is wrong.
package ctl
