// Package term is the netstack of one TAP queue: it ends the TCP connections of
// clients, with gVisor's TCP and a link endpoint of our own.
//
//	s, err := term.New(config)
//	err = s.Listen(virtual, at)          the address is ours from now on
//	head, tail := s.Room()               read a frame there, on the loop
//	s.InjectRoom(n, checked)             ... and hand it over
//	more := s.Events(most, f)            on the loop, after Wake
//	s.ReadTo, s.WriteFrom, s.Recv ...    with the connections that came up
//	s.Free()
//
// A Stack belongs to one loop, which alone may call its methods, but for Stats.
// All of netstack's work is done there, too, within these calls, its timers in
// Events: it has no goroutine that does anything, and takes no lock that anybody
// waits for (see inline and clock). So Due says when Events has to be called at
// the latest. No connection has a goroutine either.
//
// Link addresses are never asked for: a frame goes where the client's frames
// came from (package hop). Nothing is sent that no client caused.
package term
