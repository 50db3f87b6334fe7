// Command model explores the protocol of lb/dispatch: arrivals, releases,
// grants, cancels, expiry and changes of limits of several loops, in every
// order in which their accesses to shared memory can fall.
//
//	go run ./tools/model                   everything
//	go run ./tools/model -only lower       what has "lower" in its name
//	go run ./tools/model -traces           and how each fault was caught
//	go test ./tools/model                  the small part
//
// It fails if a scenario breaks an invariant, and then prints the shortest
// run of steps that does; and also if one of the seeded faults, mistakes put
// in on purpose, breaks none in any of the scenarios named for it.
//
// What it explores is a model, not the code of lb: the same steps, written
// down once more. A step is one access to memory that another process can
// touch at the same time, with the private work up to the next one. Loads
// and stores are taken to be sequentially consistent, as sync/atomic's are.
//
// What it leaves out: the contents of connections, weights and balancing
// (members are tried in a fixed order), members that go down, priorities,
// and rings as memory: pushing and draining are one step each. Limits, loops
// and connections are as few as each scenario needs.
//
// The files follow a run: scenarios.go says what is explored, explore.go
// visits the states, moves.go begins operations. client.go, take.go and
// give.go are what loops do, baton.go is the kick, operator.go the changes of
// limits; pass.go, queue.go, sweep.go, serve.go and flag.go are what the holder of
// the baton does. invariants.go says what must hold, faults.go what is put in
// to see that it is noticed.
package main
