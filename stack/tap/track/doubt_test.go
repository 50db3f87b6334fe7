package track

import "testing"

// Linux reads the client's number out of its cookie: what is less than four below the
// one that it expects is the index of another MSS, and acknowledging makes a
// connection.
func TestProbeIsNoCookie(t *testing.T) {
	for _, lines := range []string{"c S 100\ns SA 500 101 -> replied", "c S 100\ns SA 500 101 -> replied\nc R 101 0 -> aborting"} {
		c := told(t, lines)
		if seq, ack := c.ProbeServer(); ack == 501 && 101-seq < 4 {
			t.Errorf("%q: %d is one that a server with cookies takes", lines, seq)
		}
	}
}

// A client's reset with a number in flight that is neither what the server expects
// nor what the client sends next is a guess, and the connection goes on.
func TestResetInFlight(t *testing.T) {
	runScripts(t, []script{{"of the client's", talked + `
		c A 101 201 900
		c R 600 0 -> aborting
		s A 201 1001 -> revived =established`}})
}

// What lies between the numbers of two SYN-ACKs was never sent.
func TestWithinTwin(t *testing.T) {
	for _, n := range []uint32{5000000, 1 << 31, 70000} {
		for _, lines := range []string{"c S 0\ns SA 900000 1 -> replied\ns SA 0 1", "c S 0\ns SA 0 1 -> replied\ns SA 900000 1"} {
			if c := told(t, lines); c.Within(Server, n) {
				t.Errorf("%q: %d", lines, n)
			}
		}
	}
}
