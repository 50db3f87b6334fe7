package track

import (
	"testing"

	"penstock/stack/tap/frame"
)

// op is a segment of six bytes: who sends it and whether its numbers count from what
// was acknowledged or what was sent, flags, and how far off they are.
const opSize = 6

func (c *Conn) op(b []byte) (from Side, s Segment) {
	from = Side(b[0] & 1)
	s = Segment{Flags: b[1], Seq: c.acked[1-from], Ack: c.acked[from], Window: uint16(b[5]) << (b[0] >> 6 * 2), WS: int8(b[5]%16) - 1}
	if b[0]&2 != 0 {
		s.Seq = c.next[from]
	}
	if b[0]&4 != 0 {
		s.Ack = c.next[1-from]
	}
	s.Seq += off(b[2])
	s.Ack += off(b[3])
	if b[0]&8 != 0 {
		s.Len = uint32(b[4]) << (b[0] >> 4 & 3 * 4)
	}
	return from, s
}

// off is a small number, or a power of two, of either sign.
func off(b byte) uint32 {
	switch {
	case b < 16:
		return uint32(b)
	case b < 32:
		return -uint32(b - 16)
	case b < 64:
		return 1 << (b & 31)
	case b < 96:
		return -(uint32(1) << (b & 31))
	}
	return uint32(b&31) * 1000
}

var fuzzSeeds = []string{
	"\x00\x02\x00\x00\x00\x08" + // SYN
		"\x01\x12\x00\x01\x00\x08" + "\x00\x10\x00\x00\x00\x08" + // SYN-ACK, ACK
		"\x0a\x10\x00\x00\x40\x08" + "\x0f\x10\x00\x00\x40\x08" + // data both ways
		"\x02\x11\x00\x00\x00\x08" + "\x07\x11\x00\x00\x00\x08" + "\x06\x10\x00\x00\x00\x08", // FINs, ACK
	"\x00\x02\x00\x00\x00\x08" + "\x01\x14\x00\x01\x00\x08",
	"\x00\x02\x00\x00\x00\x08" + "\x01\x12\x00\x01\x00\x08" + "\x00\x04\x00\x00\x00\x08" + "\x01\x04\x00\x00\x00\x08",
	"\x00\x02\x00\x00\x00\x08" + "\x01\x12\x00\x01\x00\x08" + "\x00\x10\x00\x00\x00\x08" + "\x00\x04\x63\x00\x00\x08" + "\x01\x10\x00\x00\x00\x08",
}

// FuzzSegment: whatever comes, it ends once at most, events and states go together,
// and nothing is acknowledged that was not sent.
func FuzzSegment(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(uint32(0), []byte(s))
		f.Add(^uint32(0), []byte(s))
	}
	f.Fuzz(func(t *testing.T, isn uint32, ops []byte) {
		if len(ops) < opSize {
			return
		}
		var c Conn
		syn := Segment{Seq: isn, Flags: frame.SYN, Window: uint16(ops[5]), WS: int8(ops[4]%16) - 1}
		c.Open(&syn)
		j := judge{t: t, seen: map[Event]int{}}
		for ops = ops[opSize:]; len(ops) >= opSize; ops = ops[opSize:] {
			if ops[0] == 0xff {
				c.ForceReset()
				continue
			}
			from, s := c.op(ops)
			before := c
			e, drop := c.Segment(from, &s)
			j.judge(&before, &c, from, &s, e, drop)
			c.ResetFor(from)
			c.ProbeServer()
			c.Within(from, s.Seq)
			c.Again(&s)
		}
	})
}

type judge struct {
	t    *testing.T
	seen map[Event]int
}

// leads is where an event leads.
var leads = map[Event][]State{
	Replied: {Answered}, Refused: {Reset}, Stale: {Opening, Resetting}, Completed: {Established, Closing},
	Finishing: {Answered, Closing}, Ended: {Closed}, Broken: {Reset}, Aborting: {Resetting},
	Confirmed: {Reset}, Revived: {Answered, Established, Closing},
}

func (j *judge) judge(before, c *Conn, from Side, s *Segment, e Event, drop bool) {
	j.seen[e]++
	fail := func(what string) {
		j.t.Helper()
		j.t.Fatalf("%s: %d %+v: %v, dropped %v\n%v %+v\n%v %+v", what, from, s, e, drop, before.state, before, c.state, c)
	}
	if j.seen[Refused]+j.seen[Ended]+j.seen[Broken]+j.seen[Confirmed] > 1 {
		fail("it ended again")
	}
	if j.seen[Replied] > 1 || j.seen[Completed] > 1 || j.seen[Finishing] > 1 {
		fail("once more")
	}
	if e == None {
		if c.state != before.state {
			fail("without a word")
		}
	} else if !in(c.state, leads[e]) {
		fail("another state")
	}
	if c.state < before.state && (before.state != Resetting || e != Revived && e != Completed && e != Ended) {
		fail("back")
	}
	if (before.state == Closed || before.state == Reset) && *c != *before {
		fail("it was over")
	}
	if c.is(answered) && (c.is(completed) || !c.is(twin)) && (after(c.acked[Client], c.next[Server]) || after(c.acked[Server], c.next[Client])) {
		fail("more acknowledged than sent")
	}
	for side := range c.next {
		if !before.is(completed) || before.state == Resetting {
			continue
		}
		if after(before.acked[side], c.acked[side]) || after(before.next[side], c.next[side]) {
			fail("numbers went back")
		}
	}
	if drop && e != Stale && before.state > Answered && before.state < Closed && s.Flags&frame.SYN == 0 {
		fail("it was in the way")
	}
}

func in(s State, list []State) bool {
	for _, l := range list {
		if s == l {
			return true
		}
	}
	return false
}
