// Package proc says what a process on this machine costs: CPU time, memory and
// descriptors, read from the kernel by process id. The process measured does
// not take part and needs no change.
//
// Kernel memory (socket buffers, page tables) belongs to no process and is not
// counted.
package proc
