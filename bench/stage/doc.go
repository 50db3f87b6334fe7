// Package stage is where a measurement takes place: a network of its own if
// that is allowed, addresses in it, a directory, and the processes that play.
//
//	s, err := stage.Open("cubic")
//	defer s.Close()
//	c, err := s.Start(ctx, "penstock", "run", "-listen", s.Address().String(), ...)
//	defer c.End()
//	err = s.Listening(ctx, address, c, 5*time.Second)
//
// Clients can reach a proxy by a network device in place of loopback, and the proxy
// its servers: a Link.
//
// A process never outlives the stage: it is ended by End, by the end of its
// context, and by the kernel should this program die. Whom it has started, and the
// directory, a shell looks after that outlives this program.
//
// As root, everything runs in a network namespace of its own: nobody else's
// connections, ports or TIME_WAITs are in the way, and the congestion control
// can be chosen. BBR, for one, paces: on loopback it halves the speed of bulk
// work whatever a proxy does.
package stage
