package tally

import (
	"fmt"
	"io"
)

// Handshakes is what a generator of handshakes counts beside what every client
// does. All numbers are of the whole run, but for Counted.
type Handshakes struct {
	Sent     uint64 `json:"sent"`          // first SYNs
	Counted  uint64 `json:"counted"`       // of these in the measured time; of a flood
	Again    uint64 `json:"again"`         // SYNs that were sent again
	Dropped  uint64 `json:"dropped"`       // SYNs of both kinds for which the device had no room
	Answered uint64 `json:"answered"`      // handshakes that got a SYN-ACK
	Refused  uint64 `json:"refused"`       // handshakes of a flood that got a reset; others are an outcome
	Missed   uint64 `json:"missed"`        // frames that the generator was too slow to read
	Bad      uint64 `json:"bad,omitempty"` // frames with a wrong checksum

	Stood    uint64 `json:"stood,omitempty"`    // connections that are kept: connected when all were opened
	Carried  uint64 `json:"carried,omitempty"`  // of these: got a response
	Segments uint64 `json:"segments,omitempty"` // of connections, sent and heard in the measured time

	// Filling is how long it took in seconds to send the first SYN to all that
	// stand at a time, or of a flood to all that came.
	Filling float64 `json:"filling"`

	// Release is from the frame that ended a connection, and so freed a slot, to
	// the SYN-ACK of who got it; First to the first byte of its response. In the
	// measured time.
	Release *Histogram `json:"release,omitempty"`
	First   *Histogram `json:"first,omitempty"`
}

// Add adds what another one counted meanwhile.
func (h *Handshakes) Add(o *Handshakes) {
	if o == nil {
		return
	}
	h.Sent += o.Sent
	h.Counted += o.Counted
	h.Again += o.Again
	h.Dropped += o.Dropped
	h.Answered += o.Answered
	h.Refused += o.Refused
	h.Missed += o.Missed
	h.Bad += o.Bad
	h.Stood += o.Stood
	h.Carried += o.Carried
	h.Segments += o.Segments
	h.Filling = max(h.Filling, o.Filling)
	merge(&h.Release, o.Release)
	merge(&h.First, o.First)
}

// text are the lines that a client's have more.
func (h *Handshakes) text(w io.Writer) {
	if h == nil {
		return
	}
	fmt.Fprintf(w, "  handshakes: %d SYNs", h.Sent)
	if h.Filling > 0 {
		fmt.Fprintf(w, " in %.2f s, %s a second", h.Filling, digits(float64(h.Sent)/h.Filling))
	}
	fmt.Fprintf(w, "; %d again; %d dropped by the device; %d answered", h.Again, h.Dropped, h.Answered)
	if h.Refused > 0 {
		fmt.Fprintf(w, "; %d refused", h.Refused)
	}
	fmt.Fprintln(w)
	if h.Stood > 0 {
		fmt.Fprintf(w, "  %d connections stood, %d got a response\n", h.Stood, h.Carried)
	}
	if h.Bad > 0 {
		fmt.Fprintf(w, "  %s had a wrong checksum\n", many(int64(h.Bad), "frame"))
	}
	if h.Missed > 0 {
		fmt.Fprintf(w, "  %s came too fast for the generator\n", many(int64(h.Missed), "frame"))
	}
}

// spans are those of the histograms.
func (h *Handshakes) spans() (release, first *Histogram) {
	if h == nil {
		return nil, nil
	}
	return h.Release, h.First
}
