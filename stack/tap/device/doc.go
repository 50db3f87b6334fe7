// Package device is a TAP device with one queue for each loop: frames in and
// out of the kernel, large ones whole.
//
//	d, err := device.Open(device.Config{Name: "tap0", Queues: 2})
//	q := d.Queue(i)                 watch q.FD() for reading, level-triggered
//	n, e := q.Read(&h, a, b)        until EAGAIN, on the loop
//	e := q.Write(&h, parts)         on any goroutine
//	q.Send(&h, head, tail)          on the loop, to be written by
//	q.Flush()                       at the end of its turn
//	state, changed := q.Check(now)  about once a second, and after Read failed
//	                                with something other than EAGAIN
//	d.Close()                       when nobody reads or writes any more
//
// # When the device goes
//
// Somebody may set the link down or delete it. Neither ends anything: it is in
// the log once, Check looks each second whether it is back, and says so. A
// device that this package made is made again, where it was made; one that was
// there before is waited for.
//
// It may also be renamed, or moved to another network namespace, which sets it
// down: its state is asked of a descriptor and not by name, so all goes on there
// as soon as somebody sets it up. (Before Linux 5.2 a descriptor does not tell that
// the link is down; Check says Up then, and writing fails.)
//
// A queue's descriptor stays the same, and open, until Close: it is attached
// again where it is. So whoever writes at the wrong moment gets an error, never
// somebody else's descriptor. But the kernel reports an error on it for as long
// as the device is gone, so the loop stops watching when Check says Gone, and
// watches it again when Check says something else. Of a link that is set down
// the kernel reports nothing.
//
// # Which queue
//
// Config.Steer chooses the queue of each frame, whatever is written where. Without
// it, or the right to it (see Steered), the kernel keeps a flow's frames in one
// queue by a hash of its own, and moves a flow to where it was written last.
package device
