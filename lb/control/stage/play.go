package stage

import (
	"net/netip"
	"time"

	"penstock/lb/dispatch"
)

// Arrive lets a client of a virtual server in, and says what became of it.
func (s *Stage) Arrive(virtual string, from netip.AddrPort) dispatch.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Config()
	for i := range c.Virtuals {
		if c.Virtuals[i].Name != virtual {
			continue
		}
		s.last++
		s.clients[s.last] = from
		a := dispatch.Attempt{Since: s.Now(), Source: dispatch.SourceOf(from.Addr())}
		return s.took(client{a: a, id: s.last}, s.Loop(0).Arrive(s.Now(), dispatch.VirtualID(c.Virtuals[i].ID), s.last, a))
	}
	panic("stage: no virtual server " + virtual)
}

func (s *Stage) took(c client, v dispatch.Verdict) dispatch.Kind {
	switch v.Kind {
	case dispatch.Proceed:
		c.path = v.Path
		s.connected = append(s.connected, c)
	case dispatch.Wait:
		c.waiter = v.Waiter
		s.parked = append(s.parked, c)
	}
	s.pump()
	return v.Kind
}

// Release ends the oldest connection.
func (s *Stage) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connected[0]
	s.connected = s.connected[1:]
	s.Loop(0).Release(s.Now(), c.path)
	s.pump()
}

// Fail lets the oldest dial fail.
func (s *Stage) Fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connected[0]
	s.connected = s.connected[1:]
	s.took(c, s.Loop(0).Failed(s.Now(), c.path, c.id, &c.a))
}

// Leave lets the oldest waiter leave.
func (s *Stage) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.parked[0]
	s.parked = s.parked[1:]
	s.Loop(0).Leave(s.Now(), c.waiter, c.a.Since)
	s.pump()
}

// Pass lets time pass.
func (s *Stage) Pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Add(int64(d))
	s.Loop(0).Run(s.Now())
	s.pump()
}

// Monitor lets the monitor of a member say something.
func (s *Stage) Monitor(member int, up bool, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verdicts[member] = verdict{up, reason, time.Unix(0, s.now.Load())}
	s.SetMemberUp(s.Now(), dispatch.MemberID(member), up)
	s.Changed(s.Now())
	s.pump()
}

// Served is how many are connected.
func (s *Stage) Served() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connected)
}

// pump takes the outcomes of those who waited.
func (s *Stage) pump() {
	for o, ok := s.Loop(0).Next(); ok; o, ok = s.Loop(0).Next() {
		for i, c := range s.parked {
			if c.id != o.Conn {
				continue
			}
			s.parked = append(s.parked[:i:i], s.parked[i+1:]...)
			if o.Reason == dispatch.NotRefused {
				c.path = o.Path
				s.connected = append(s.connected, c)
			}
			break
		}
	}
}
