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
// Cases that need what the program has not got, by what they need:
//
//	changes while it runs     C02 C06 C09 C10 C32 C58 C59 C61, C35 and C75 in part
//	persistence               C17 C37 C38 C39 C40 C41
//	priority groups           C33
//	slow ramp                 C14 C34
//	monitors                  C36, C12 in part (a member goes down)
//	the PROXY protocol        C62 to C66
//	front=tap                 C67 to C71
//
// Elsewhere: C42 and C44 to C52 are of the relay and are tested with stack.
//
// # How it is measured
//
// What decides is a server's own count of its connections. It is lowered
// before the server closes, so a proxy that is right can't be blamed.
package cases
