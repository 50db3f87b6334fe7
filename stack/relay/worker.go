package relay

import (
	"github.com/valyala/bytebufferpool"

	"penstock/stack/sys"
)

// Worker is what the flows of one loop share: the copy buffer, the pipes, and
// the buffers of those whose destination is stuck. Not safe for concurrent use.
type Worker struct {
	Ends Ends // what sides of EndSide are; set before the first of them is pumped

	space []byte // what a copy goes through

	pipes     []sys.Pipe // all that were opened
	idlePipes []uint32   // those without a borrower, each of them empty
	mostPipes int

	buffers     []*bytebufferpool.ByteBuffer
	idleBuffers []uint32
}

// copyBuffer is how much a copy reads at once, and so the most that a stuck
// flow holds outside of pipes.
const copyBuffer = 16 << 10

// NewWorker returns a worker that opens up to mostPipes pipes, two
// descriptors each; flows that find none go on copying.
func NewWorker(mostPipes int) *Worker {
	return &Worker{space: make([]byte, copyBuffer), mostPipes: mostPipes}
}

// Close closes the pipes.
func (w *Worker) Close() {
	for _, p := range w.pipes {
		p.Close()
	}
	w.pipes, w.idlePipes = nil, nil
}

// Pipes returns how many pipes are open.
func (w *Worker) Pipes() int { return len(w.pipes) }

// Preload makes the flow pass b on before all it reads. Nothing may be held.
// These bytes are not counted, and the destination's Nagle is the caller's to
// switch off.
func (w *Worker) Preload(f *Flow, b []byte) {
	w.hold(f, b)
	f.state |= preloaded
}

// Drop takes back what the flow holds, and loses it. For flows that are over.
func (w *Worker) Drop(f *Flow) {
	if f.pipe != 0 && f.held > 0 {
		w.replace(f.pipe - 1)
	}
	w.giveBack(f)
	f.held = 0
}

// replace opens a new pipe in place of one with bytes in it.
func (w *Worker) replace(i uint32) {
	w.pipes[i].Close()
	p, _, e := sys.NewPipe(pipeSize)
	if e == 0 {
		w.pipes[i] = p
		return
	}
	// No descriptor: one pipe less. The place must not be lent again.
	w.pipes[i] = sys.Pipe{R: -1, W: -1}
}

// borrow makes sure that the flow has an empty pipe.
func (w *Worker) borrow(f *Flow) bool {
	if n := len(w.idlePipes); n > 0 {
		f.pipe = w.idlePipes[n-1] + 1
		w.idlePipes = w.idlePipes[:n-1]
		return true
	}
	if len(w.pipes) >= w.mostPipes {
		return false
	}
	p, _, e := sys.NewPipe(pipeSize)
	if e != 0 {
		return false
	}
	w.pipes = append(w.pipes, p)
	f.pipe = uint32(len(w.pipes))
	return true
}

// giveBack returns the flow's pipe, which is empty, and its buffer.
func (w *Worker) giveBack(f *Flow) {
	if f.pipe != 0 {
		if w.pipes[f.pipe-1].R >= 0 {
			w.idlePipes = append(w.idlePipes, f.pipe-1)
		}
		f.pipe = 0
	}
	if f.buf != 0 {
		bytebufferpool.Put(w.buffers[f.buf-1])
		w.buffers[f.buf-1] = nil
		w.idleBuffers = append(w.idleBuffers, f.buf-1)
		f.buf = 0
	}
}

// hold keeps b until the destination has room.
func (w *Worker) hold(f *Flow, b []byte) {
	bb := bytebufferpool.Get()
	bb.Set(b)
	f.held = uint32(len(b))
	if n := len(w.idleBuffers); n > 0 {
		i := w.idleBuffers[n-1]
		w.idleBuffers = w.idleBuffers[:n-1]
		w.buffers[i] = bb
		f.buf = i + 1
		return
	}
	w.buffers = append(w.buffers, bb)
	f.buf = uint32(len(w.buffers))
}
