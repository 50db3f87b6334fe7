package shift

import "penstock/stack/tap/frame"

// Answer is what netstack answered a rebuilt SYN with.
type Answer struct {
	Flow
	Reset   bool          // refused: the numbers say nothing
	Again   bool          // sent once more, the flow is set already
	ISS     uint32        // sequence number of its SYN-ACK
	Ack     uint32        // the client's ISN plus one
	Window  uint16        // not scaled: it is a SYN's
	Options frame.Options // its TSVal, MSS, window scale

	Scale Scale // for Set; zero as it comes
}

// Scale is how windows are translated, if the client was told another window scale
// than the one that counts.
type Scale struct {
	Out int8 // by how much those for the client are shifted to the left, or (below zero) to the right
	In  int8 // ... those of the client's
}

// caught keeps an answer for the loop.
func (t *Table) caught(e *flow, h []byte) {
	p := frame.Packet{Data: len(h), Flags: h[offFlags]}
	a := Answer{
		Flow: e.Flow, Reset: p.Has(frame.RST), Again: e.numbers.Load() != nil,
		ISS: be.Uint32(h[offSeq:]), Ack: be.Uint32(h[offAck:]), Window: be.Uint16(h[offWindow:]),
		Options: p.Options(h),
	}
	t.mu.Lock()
	t.answers = append(t.answers, a)
	t.mu.Unlock()
	t.wake()
}

// Answers hands over what was caught since. The same SYN-ACK comes again if
// netstack sent it again, also after Set: the ACK for it was lost or late, and is
// due again if the connection is not there by now. f may call all of the table
// but Answers.
func (t *Table) Answers(f func(a *Answer)) {
	t.mu.Lock()
	got := t.answers
	t.answers = t.spare[:0]
	t.mu.Unlock()
	for i := range got {
		f(&got[i])
	}
	t.spare = got
}
