// Package cases runs the penstock binary against servers and clients that
// behave as badly as those in the field, and looks at it from outside only:
// what members and clients see on their sockets, the kernel's tables, and what
// the program says of itself.
//
//	go test ./tools/cases                        every case, in small counts
//	go test -timeout 1h ./tools/cases -long      the full counts; half an hour
//
// A test TestC07... is the case C07 of the catalogue: a fault that people have
// reported of a proxy that limits or queues. The other tests are promises of
// our own.
//
// # Not yet
//
// C67 to C71 need front=tap.
//
// Elsewhere: C42 and C44 to C52 are of the relay and are tested with stack.
//
// # How it is measured
//
// What decides is a server's own count of its connections. It is lowered
// before the server closes, so a proxy that is right can't be blamed.
//
// The bounds are those of the catalogue where they hold with room on a machine
// that others use, too; slack is what is allowed for a stall of it. What can't
// be told from outside is put between two instants: an accept is later than
// the dial, and earlier than the answer that shows it.
package cases
