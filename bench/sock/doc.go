// Package sock is where the load generator meets the kernel: sockets, epoll
// and the clock. The calls that every request makes are non-blocking and so go
// through RawSyscall: they tell the scheduler nothing and allocate nothing.
//
// Descriptors that Dial, Listen and Accept return belong to the caller, who
// ends them with Shut or Cut.
package sock
