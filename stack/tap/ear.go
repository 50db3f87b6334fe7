package tap

import "penstock/stack/tap/device"

// ear knows up to when all frames of a queue have been read. Who is silent may have
// sent one that lies there yet: after the machine has stood still, or while more come
// than are read. So silence is judged by that time, and not by now.
type ear struct {
	device Device
	queue  Queue
	upTo   int64 // all that had come by then has been read
	since  int64 // when more was found than was read, and
	frames int   // how many have been read since
}

// deepest is more frames than lie in a queue, usually (txqueuelen).
const deepest = 16384

// read notes that so many frames were read, and whether none is left.
func (e *ear) read(frames int, all bool, now int64) {
	e.frames += frames
	switch {
	case all:
		e.upTo, e.since, e.frames = now, now, 0
	case e.frames >= deepest:
		e.upTo, e.since, e.frames = e.since, now, 0
	}
}

// heard returns up to when all has been read. If the device is down, nothing comes.
func (e *ear) heard(now int64) int64 {
	if e.upTo < now && (e.device.State() != device.Up || !e.queue.Waiting()) {
		e.read(0, true, now)
	}
	return e.upTo
}

// Heard returns up to when all that clients sent has been read.
func (p *Port) Heard(now int64) int64 { return p.ear.heard(now) }

// heardBoth is that of clients and servers.
func (f *forwarder) heardBoth(now int64) int64 {
	if f.common.oneArmed {
		return f.p.Heard(now)
	}
	return min(f.p.Heard(now), f.ear.heard(now))
}
