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
// # Over TAP
//
//	go test ./tools/cases -tap -run C15          with front=tap
//	go test ./tools/cases -tap -syn-proof=always ... when each client that waits has to prove that it hears
//
// The same tests run once more over a TAP device for each penstock, in a network
// namespace that goes with the process; clients are the kernel's there. TestOverTap
// does that with the others, where there are TAP devices. What has no meaning
// there is in a table with it. C67 to C71, and TestTap..., are for TAP only.
//
// # Forwarded
//
//	go test ./tools/cases -forward -run C15      with mode=forward, clients and servers on TAP devices
//
// And once more, with a second device for each penstock that has the servers behind
// it; see arm and far. Their kernel is that of the clients, or one of a namespace of
// their own where they have to see clients' addresses. TestOverForward does that
// with the others. TestForward... are for it only.
//
// # Elsewhere
//
// C42 and C44 to C52 are of the relay and are tested with stack.
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
