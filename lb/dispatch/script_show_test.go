package dispatch

import (
	"fmt"
	"strconv"
	"time"
)

// show prints how full everything is: in use/limit, and who waits.
func (s *script) show() {
	s.eachName("virtual", func(i int, name string) { s.load("virtual", name, s.Virtual(VirtualID(i)), "") })
	s.eachName("pool", func(i int, name string) {
		note := ""
		if s.Paused(PoolID(i)) {
			note = " paused"
		}
		s.load("pool", name, s.Pool(PoolID(i)), note)
	})
	s.eachName("member", func(i int, name string) {
		m := s.Member(MemberID(i))
		s.load("member", name, m.Load, noteOf(m))
	})
	s.eachName("node", func(i int, name string) { s.load("node", name, s.Node(NodeID(i)), "") })
}

// eachName passes by what was forgotten.
func (s *script) eachName(kind string, do func(i int, name string)) {
	for i, name := range s.names[kind] {
		if name != "" {
			do(i, name)
		}
	}
}

// noteOf is what there is to be said of a member that is not well and at work.
func noteOf(m MemberView) (note string) {
	if m.State != Enabled {
		note += " " + stateNames[m.State]
	}
	if m.Down {
		note += " down"
	}
	if m.Removed {
		note += " removed"
	}
	if m.Ramp != 0 {
		note += fmt.Sprint(" ramp ", m.Ramp)
	}
	if m.Probing {
		note += " probing"
	} else if m.BackOffUntil != 0 {
		note += fmt.Sprint(" back-off until ", time.Duration(m.BackOffUntil-start))
	}
	return note
}

func (s *script) load(kind, name string, l Load, note string) {
	lim := "-"
	if l.Limit != 0 {
		lim = strconv.FormatInt(l.Limit, 10)
	}
	fmt.Fprintf(&s.out, "%s %s: %d/%s", kind, name, l.InUse, lim)
	if l.Waiting != 0 {
		fmt.Fprintf(&s.out, " waiting %d", l.Waiting)
	}
	fmt.Fprintln(&s.out, note)
}

// stats prints what a queue has seen: of a pool with its members, of a member,
// or of the clients of a virtual server.
func (s *script) stats() {
	var st *QueueStats
	switch kind, i := s.object(); kind {
	case "pool":
		st = s.PoolQueueAll(PoolID(i))
	case "member":
		st = s.MemberQueue(MemberID(i))
	case "virtual":
		st = s.VirtualQueue(VirtualID(i))
	}
	fmt.Fprintf(&s.out, "serviced %d expired %d overflowed %d abandoned %d requeued %d moved %d no member %d",
		st.Serviced.Load(), st.Expired.Load(), st.Overflowed.Load(), st.Abandoned.Load(),
		st.Requeued.Load(), st.Moved.Load(), st.RefusedNoMember.Load())
	if early, shed, flushed := st.Early.Load(), st.Shed.Load(), st.Flushed.Load(); early+shed+flushed != 0 {
		fmt.Fprintf(&s.out, " early %d shed %d flushed %d", early, shed, flushed)
	}
	if head := st.Head.Load(); head != 0 {
		fmt.Fprintf(&s.out, " head %s", time.Duration(Tick(head)-start))
	}
	s.out.WriteByte('\n')
}
