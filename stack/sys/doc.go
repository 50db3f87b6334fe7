// Package sys is where Penstock meets the kernel: the system calls of the
// data path, as thin as they get.
//
// All of them are for non-blocking descriptors and go through RawSyscall: the
// scheduler is not told, since none of them waits. They return an Errno and
// not an error, so that a hot path neither allocates nor compares interfaces;
// 0 is success. Interrupted calls are repeated here.
//
// No other package makes raw system calls on sockets.
package sys
