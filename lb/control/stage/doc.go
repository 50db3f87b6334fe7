// Package stage plays a proxy, for the tests of the packages that show one
// and change one: a real dispatcher with one loop, clients that do what the
// test says, a clock that stands, and totals that are made up.
//
//	s, err := stage.New(flags)
//	s.Arrive("web", from)     // served or parked, as the dispatcher decides
//	s.Pass(250 * time.Millisecond)
//	h := admin.Handler(s, s)  // it is a View, and a Control
//
// It is no part of the program.
package stage
