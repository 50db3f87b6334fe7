// Package cases runs the penstock binary against servers and clients that
// behave as badly as those in the field, and looks at it from outside only:
// what members and clients see on their sockets, the kernel's tables, and what
// the program says of itself.
//
//	go test ./tools/cases          every case, in small counts
//	go test ./tools/cases -long    the full counts; minutes
//
// A test TestC07... is the case C07 of the catalogue: a fault that people have
// reported of a proxy that limits or queues. The other tests are promises of
// our own.
//
// What decides is a server's own count of its connections. It is lowered
// before the server closes, so a proxy that is right can't be blamed.
package cases
