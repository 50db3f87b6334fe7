package track

import (
	"testing"

	"penstock/stack/tap/frame"
)

func TestResetOfTheServer(t *testing.T) {
	runScripts(t, []script{
		{"refuses the SYN", `
			c S 0
			s RA 0 1 -> refused drop =reset
			c S 0 -> drop
			s SA 0 1 -> drop
			c A 1 1 -> drop
			s RA 0 1 -> =reset`},
		{"in answer to another SYN is none", `
			c S 0
			s RA 0 2 -> drop =opening
			s RA 0 0 -> drop =opening
			s R 0 1 -> drop =opening
			s SA 0 1 -> replied`},
		{"takes the answer back", `
			c S 0
			s SA 0 1 -> replied
			s R 1 0 -> broken =reset
			c A 1 1 -> drop`},
		{"of a server that was started anew, to the SYN repeated", `
			c S 0
			s SA 5 1 -> replied
			c S 0
			s RA 0 1 -> broken =reset
			c A 1 6 -> drop`},
		{"in answer to a stranger's ACK is not for the client", `
			c S 0
			s SA 0 1 -> replied
			s R 5555 0 -> =answered
			s RA 5555 0 -> =answered
			c A 1 1 -> completed`},
		{"in answer to the client's ACK", shaken + `
			s R 1 0 -> broken =reset`},
		{"with the last number", talked + `s RA 201 101 -> broken =reset`},
		{"with a number that the client may not expect yet or any more", talked + `
			s A 201 101 300
			s R 501 0 -> broken =reset`},
		{"with a number in flight that nobody expects or sends next", talked + `
			s A 201 101 900
			s R 600 0 -> aborting
			s A 1101 101 50 -> revived =established`},
		{"old", talked + `
			s R 200 0 -> =established
			s R 1 0 -> =established`},
		{"outside the window", talked + `
			s R 1202 0 -> =established
			s R -77777 0 -> =established`},
		{"in the window only: the client asks back, and the server says it properly", talked + `
			s R 700 0 -> aborting =resetting
			c A 101 201 -> =resetting
			s R 201 0 -> confirmed =reset`},
		{"in the window only, and the server lives", talked + `
			s R 700 0 -> aborting
			s A 201 101 -> revived =established
			s A 201 101 50
			c FA 101 251 -> finishing`},
		{"in the window only, and the client hears of the server", talked + `
			s A 201 101 50
			s R 700 0 -> aborting
			c A 101 251 -> revived =established`},
		{"while closing", talked + `
			c FA 101 201 -> finishing
			s R 201 0 -> broken =reset`},
		{"when all is over", closed + `
			s R 202 0 -> =closed
			c R 102 0 -> =closed`},
		{"nothing passes afterwards but resets", talked + `
			s R 201 0 -> broken =reset
			c A 101 201 10 -> drop
			s A 201 101 10 -> drop
			c S 5000 -> drop
			s SA 3 5001 -> drop
			c R 101 0
			s R 201 0 -> =reset`},
		{"a SYN-ACK for another SYN: it has forgotten the connection", talked + `
			c S 700000
			s SA 5 700001 -> aborting drop =resetting
			s R 201 0 -> confirmed =reset`},
		{"a SYN-ACK for another SYN, and the connection lives", talked + `
			c S 700000
			s SA 5 700001 -> aborting drop =resetting
			s SA 5 700001 -> drop
			s SA 0 1
			s A 201 101 -> revived =established
			s SA 5 700001 -> drop =established`},
		{"a SYN-ACK for a SYN that there was not", talked + `
			s SA 5 700001 -> drop =established
			c S 0
			s SA 5 700001 -> drop =established
			s SA 0 1 -> =established`},
	})
}

func TestResetOfTheClient(t *testing.T) {
	runScripts(t, []script{
		{"before the answer", `
			c S 0
			c R 1 0 -> aborting =resetting
			s SA 0 1
			c R 1 0
			s R 1 0 -> confirmed =reset
			c A 1 1 -> drop`},
		{"before the answer, with the SYN's own number", `
			c S 0
			c R 0 0 -> aborting =resetting
			s RA 0 1 -> confirmed =reset`},
		{"before the answer, with another number", `
			c S 0
			c R 2 0 -> drop =opening
			c RA -1 0 -> drop =opening
			s SA 0 1 -> replied`},
		{"of one that has given up, to a late answer", `
			c S 0
			s SA 0 1 -> replied
			c R 1 0 -> aborting =resetting
			s SA 0 1
			c R 1 0
			s R 1 0 -> confirmed`},
		{"with the last number", talked + `
			c RA 101 201 -> aborting =resetting
			s R 201 0 -> confirmed =reset`},
		{"is lost behind us, and the server goes on", talked + `
			c R 101 0 -> aborting =resetting
			s A 201 101 500 -> =resetting
			c R 101 0
			s R 201 0 -> confirmed`},
		{"what it overtook is no sign of life", talked + `
			c A 301 201 100
			c R 401 0 -> aborting
			c A 101 201 200 -> =resetting
			c A 401 201 -> =resetting
			s R 201 0 -> confirmed`},
		{"was a stranger's: data goes on", talked + `
			c R 101 0 -> aborting
			c A 101 201 5 -> revived =established
			s A 201 106
			c FA 106 201 -> finishing`},
		{"in the window only, and the server lives", talked + `
			c R 500 0 -> aborting =resetting
			s A 201 101 -> revived =established`},
		{"in the window only, and the client hears of the server", talked + `
			s A 201 101 5
			c R 500 0 -> aborting =resetting
			c A 101 206 -> revived =established`},
		{"in the window only, then properly", talked + `
			c R 500 0 -> aborting =resetting
			c R 101 0 -> =resetting
			s A 201 101 -> =resetting
			s R 201 0 -> confirmed`},
		{"outside the window", talked + `
			c R 1102 0 -> =established
			c R 100 0 -> =established`},
		{"in the handshake, and it was a stranger's", `
			c S 0
			s SA 0 1 -> replied
			c R 1 0 -> aborting
			c A 1 1 -> =resetting
			c A 1 1 10 -> completed =established`},
		{"in the handshake, in the window only, and the client completes it", `
			c S 0
			s SA 0 1 -> replied
			c R 500 0 -> aborting
			c A 1 1 -> completed =established`},
		{"while closing", talked + `
			c FA 101 201 -> finishing
			s A 201 102 50
			c R 102 0 -> aborting
			s R 201 0 -> confirmed`},
		{"between two FINs that are acknowledged after all", talked + `
			c FA 101 201 -> finishing
			s FA 201 102
			c R 102 0 -> aborting
			c A 102 202 -> ended =closed`},
		{"while closing, and it was a stranger's", talked + `
			s FA 201 101 -> finishing
			c R 101 0 -> aborting
			c A 101 201 10 -> revived =closing`},
		{"a SYN while it is open whether it is over", talked + `
			c R 101 0 -> aborting
			c S 5000 -> drop =resetting`},
	})
}

func TestForceReset(t *testing.T) {
	runScripts(t, []script{
		{"nothing passes but resets", talked + `
			force -> =resetting
			c A 101 201 10 -> drop =resetting
			s A 201 101 10 -> drop =resetting
			c FA 111 201 -> drop =resetting
			c R 112 0
			s R 212 0 -> =resetting
			s R 211 0 -> confirmed =reset`},
		{"before the answer", `
			c S 0
			force -> =resetting
			c S 0 -> drop
			s SA 0 1 -> drop
			c A 1 1 -> drop
			s R 1 0 -> confirmed`},
		{"before the answer, and the SYN never came through", `
			c S 0
			force -> =resetting
			s RA 0 1 -> confirmed`},
		{"where nobody has completed it", `
			c S 0
			s SA 0 1 -> replied
			force -> =resetting
			c A 1 1 10 -> drop =resetting
			s SA 0 1 -> drop
			s R 1 0 -> confirmed =reset`},
		{"both had closed", talked + `
			c FA 101 201 -> finishing
			s FA 201 102
			force -> =resetting
			c A 102 202 -> ended =closed`},
		{"a server that was taken in, or has begun another, is reset with its own number", talked + `
			force
			s A 201 501 -> stale drop =resetting
			s SA 0 99999 -> stale drop
			s SA 0 1 -> drop
			s R 201 0 -> confirmed`},
		{"over already", closed + `force -> =closed`},
		{"over by a reset", talked + "s R 201 0 -> broken\n force -> =reset"},
		{"after a doubtful reset", talked + `
			c R 500 0 -> aborting
			force -> =resetting
			s A 201 101 -> drop =resetting
			s R 201 0 -> confirmed`},
	})
}

func TestSureAndResetter(t *testing.T) {
	for lines, want := range map[string]struct {
		sure bool
		by   Side
	}{
		talked + "c R 101 0 -> aborting":                         {true, Client},
		talked + "c R 500 0 -> aborting":                         {false, Client},
		talked + "s R 500 0 -> aborting":                         {false, Server},
		talked + "c S 999990\n s SA 500 999991 -> aborting drop": {false, Server},
		talked + "c R 500 0 -> aborting\nc R 101 0":              {true, Client},
		talked + "c R 500 0 -> aborting\nforce":                  {true, Client},
		"c S 0\nc R 1 0 -> aborting":                             {true, Client},
		"c S 0\ns SA 0 1 -> replied\nc R 1 0 -> aborting":        {true, Client},
	} {
		if c := told(t, lines); c.Sure() != want.sure || c.Resetter() != want.by {
			t.Errorf("%q: sure %v, by %v", lines, c.Sure(), c.Resetter())
		}
	}
}

func TestResetFor(t *testing.T) {
	const ra = frame.RST | frame.ACK
	type reset struct {
		seq, ack uint32
		flags    uint8
	}
	for lines, want := range map[string][2]reset{
		"c S 100":                          {{0, 101, ra}, {101, 0, frame.RST}},
		"c S 100\ns SA 500 101 -> replied": {{501, 101, ra}, {101, 0, frame.RST}},
		talked:                             {{201, 101, ra}, {101, 0, frame.RST}},
		talked + "c A 101 201 50\ns A 201 101 70": {{271, 151, ra}, {151, 0, frame.RST}},
		// Whether all has come is open, and then the other tells.
		talked + "c A 101 201 50\n force":                              {{201, 151, ra}, {151, 0, frame.RST}},
		talked + "c A 101 201 50\n force\n s A 201 101 -> drop":        {{201, 151, ra}, {101, 0, frame.RST}},
		talked + "s A 201 101 50\n force\n c A 101 201 -> drop":        {{201, 101, ra}, {101, 0, frame.RST}},
		talked + "c A 101 201 50\nc R 151 0 -> aborting":               {{201, 151, ra}, {151, 0, frame.RST}},
		talked + "c A 101 201 50\nc R 151 0 -> aborting\n s A 201 101": {{201, 151, ra}, {101, 0, frame.RST}},
	} {
		c := told(t, lines)
		for side, w := range want {
			var got reset
			got.seq, got.ack, got.flags = c.ResetFor(Side(side))
			if got != w {
				t.Errorf("%q: for %d %v, want %v", lines, side, got, w)
			}
		}
	}
}

// A reset that was made for a side is one that the tracker itself believes of the other.
func TestResetForFits(t *testing.T) {
	for _, lines := range []string{"c S 0\ns SA 0 1 -> replied", shaken, talked, talked + "c A 101 201 50\ns A 201 101 70"} {
		for _, to := range []Side{Client, Server} {
			c := told(t, lines)
			seq, ack, flags := c.ResetFor(to)
			e, drop := c.Segment(1-to, &Segment{Seq: seq, Ack: ack, Flags: flags, WS: -1})
			if want := map[Side]Event{Client: Broken, Server: Aborting}[to]; e != want || drop || !c.Sure() {
				t.Errorf("%q, for %d: %v", lines, to, e)
			}
		}
	}
}

// What a server without the connection answers to a probe confirms, in all states.
func TestProbe(t *testing.T) {
	for _, lines := range []string{
		"c S 0", "c S 0\ns SA 0 1 -> replied", "c S 0\ns SA 0 1 -> replied\ns SA 777 1", shaken, talked,
		talked + "c A 101 201 50\ns A 201 101 70", talked + "c FA 101 201 -> finishing",
	} {
		c := told(t, lines)
		c.ForceReset()
		seq, ack := c.ProbeServer()
		if int32(seq-c.acked[Server]) >= 0 {
			t.Errorf("%q: %d is not old", lines, seq)
		}
		if e, _ := c.Segment(Server, &Segment{Seq: ack, Flags: frame.RST}); e != Confirmed {
			t.Errorf("%q: %v", lines, e)
		}
	}
}

func TestStaleReset(t *testing.T) {
	c := told(t, "c S 100")
	s := Segment{Seq: 7, Ack: 4711, Flags: frame.ACK, WS: -1}
	if e, _ := c.Segment(Server, &s); e != Stale {
		t.Fatal(e)
	}
	if seq, flags := StaleReset(&s); seq != 4711 || flags != frame.RST {
		t.Error(seq, flags)
	}
}

func TestAgain(t *testing.T) {
	syn := func(seq uint32) *Segment { return &Segment{Seq: seq, Flags: frame.SYN, WS: -1} }
	for _, x := range []struct {
		lines string
		seq   uint32
		want  bool
	}{
		{closed, 102, true}, {closed, 5000, true}, {closed, 1 << 30, true},
		{closed, 101, false}, {closed, 0, false}, {closed, 1<<32 - 1000, false},
		{talked, 5000, false}, {"c S 0", 5000, false}, {talked + "c R 101 0 -> aborting", 5000, false},
		{talked + "s R 201 0 -> broken", 5000, true}, {talked + "s R 201 0 -> broken", 0, false},
	} {
		if got := told(t, x.lines).Again(syn(x.seq)); got != x.want {
			t.Errorf("%q, %d: %v", x.lines, x.seq, got)
		}
	}
}

func TestSynAfterTheEnd(t *testing.T) {
	runScripts(t, []script{{"could make a connection that nobody counts", closed + `
		c S 5000 -> drop =closed
		s SA 0 5001 -> drop =closed
		s S 0 0 -> drop`}})
}

func TestWithin(t *testing.T) {
	for _, x := range []struct {
		lines string
		of    Side
		seq   uint32
		want  bool
	}{
		{"c S 0", Client, 0, true}, {"c S 0", Client, 2, false}, {"c S 0", Client, 1<<32 - 1, false},
		{"c S 0", Server, 0, false}, {"c S 9", Server, 9, false},
		{talked, Client, 100, false}, {talked, Client, 101, true}, {talked, Client, 102, false},
		{talked + "c A 101 201 50", Client, 130, true}, {talked + "c A 101 201 50", Client, 152, false},
		{talked + "s A 201 101 50", Server, 250, true}, {talked + "s A 201 101 50", Server, 200, false},
	} {
		if got := told(t, x.lines).Within(x.of, x.seq); got != x.want {
			t.Errorf("%q, %d of %d: %v", x.lines, x.seq, x.of, got)
		}
	}
}
