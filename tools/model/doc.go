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
// (members are tried in a fixed order), priorities, classes and fairness,
// limits of the queues and when-down, how long records are kept, and rings as
// memory: pushing and draining are one step each. Limits, loops and
// connections are as few as each scenario needs. A waiter has one place, so
// that it can't be in two queues; what can go wrong is that it is counted in
// another one than it stands in.
//
// Changes of members are made as lb/dispatch has them made: all loops stand
// between two operations, the homes are made anew, and a pass is over before
// the loops go on. Two scenarios (any moment, member up) have members go down
// and come up in the middle of operations, too. Time is a small number that
// only the world advances, by any amount; a loop knows the time at which its
// operation began, so that one can be behind another.
//
// In numbers: 52 scenarios with 28.7 million states together, none with more
// than 2.2 million; 62 seeded faults, each caught. All takes about half a minute
// on two idle cores.
//
// The files follow a run: scenarios.go and scenarios_members.go say what is
// explored, explore.go visits the states, moves.go begins operations.
// client.go, take.go, give.go and lasttry.go are what loops do, baton.go is the
// kick, operator.go the changes; pass.go, queue.go, sweep.go, serve.go, force.go
// and flag.go are what the holder of the baton does. member.go, persist.go and
// ramp.go are what both know of members. invariants.go and rest.go say what
// must hold, faults.go what is put in to see that it is noticed.
package main
