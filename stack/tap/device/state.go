package device

import (
	"time"

	"penstock/stack/sys"
)

// State is what can be done with a device.
//
//	 .--- set down ---> Down ---.
//	 |                  |       | deleted
//	Up <---- set up ----'       v
//	 |                         Gone
//	 '------- deleted --------> |
//	                            '---- attached again ----> Up or Down
//
// All moves are made by look, which some loop's Check calls.
type State uint8

const (
	Up   State = iota // frames go both ways
	Down              // the link is set down: nothing comes, writing is EIO
	Gone              // deleted: reading and writing are EBADFD; don't watch the descriptor
)

func (s State) String() string { return [...]string{"up", "down", "gone"}[s] }

// look again after.
const pause = int64(time.Second)

// State returns what the last look found. Any goroutine.
func (d *Device) State() State { return stateOf(d.word.Load()) }

const stateBits = 2

func stateOf(word uint32) State { return State(word & (1<<stateBits - 1)) }

// Check looks after the device, if it is time or a read failed, and returns
// its state and whether that is news for this queue. Going and coming back
// between two calls is news too: then announce addresses again. now is the
// loop's time in nanoseconds. Loop only.
func (q *Queue) Check(now int64) (s State, changed bool) {
	d := q.dev
	if now >= d.due.Load() || q.failed && d.State() != Gone {
		d.look(now)
	}
	q.failed = false
	w := d.word.Load()
	changed = w != q.seen
	q.seen = w
	return stateOf(w), changed
}

// look finds out what has become of the device. Where another loop is at it,
// that is enough. Only to attach again takes locks of the kernel's that may
// be held for longer.
func (d *Device) look(now int64) {
	if !d.mu.TryLock() {
		return
	}
	defer d.mu.Unlock()
	d.due.Store(now + pause)
	if d.State() != Gone {
		d.enter(d.find())
		return
	}
	if err := d.attach(); err != nil {
		if err != errAbsent {
			d.complain(err)
		}
		return
	}
	if err := d.furnish(); err != nil {
		d.complain(err)
	}
	d.enter(d.find())
}

// find asks the kernel for the state, without waiting, by a descriptor: whatever
// the device is called, and in which network namespace it is. A queue has room to
// write always, if the link is up.
func (d *Device) find() State {
	switch r := sys.Poll(d.queues[0].fd); {
	case r&sys.Err != 0:
		return Gone // deleting takes all queues at once
	case r&(sys.Out|sys.Unsure) == 0:
		return Down
	}
	return Up
}

// enter makes s the state, and tells the log if it is another one.
func (d *Device) enter(s State) {
	w := d.word.Load()
	if stateOf(w) == s {
		return
	}
	d.word.Store((w>>stateBits+1)<<stateBits | uint32(s))
	d.ailing = ""
	switch {
	case s == Up:
		d.c.Log.Info("TAP device is back", "device", d.c.Name)
	case s == Down:
		d.c.Log.Error("TAP device is down", "device", d.c.Name, "remedy", "ip link set "+d.called()+" up")
	case d.create:
		d.c.Log.Error("TAP device was deleted; it is made again", "device", d.c.Name)
	default:
		d.c.Log.Error("TAP device was deleted; waiting for it", "device", d.c.Name)
	}
}

// complain tells the log why a device can't be attached, once for each reason.
func (d *Device) complain(err error) {
	if s := err.Error(); s != d.ailing {
		d.ailing = s
		d.c.Log.Error("TAP device", "device", d.c.Name, "error", err)
	}
}
