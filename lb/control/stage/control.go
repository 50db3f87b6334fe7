package stage

import (
	"net/netip"
	"slices"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// Apply is for members, nodes and keys: pools and virtual servers neither come
// nor go.
func (s *Stage) Apply(old, next *config.Config, cut ...int) error {
	if s.Before != nil {
		s.Before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Config() != old {
		return admin.ErrConflict
	}
	s.applyNodes(next)
	s.applyPools(old, next, cut)
	for i := range next.Virtuals {
		s.SetVirtual(s.Now(), dispatch.VirtualID(next.Virtuals[i].ID), virtualOf(next, i))
	}
	s.config.Store(next)
	s.Changed(s.Now())
	s.pump()
	return nil
}

func (s *Stage) applyNodes(next *config.Config) {
	for i := range next.Nodes {
		n := &next.Nodes[i]
		if n.ID < 0 {
			n.ID = int(s.AddNode(nodeOf(n)))
		} else {
			s.SetNode(s.Now(), dispatch.NodeID(n.ID), nodeOf(n))
		}
	}
}

func (s *Stage) applyPools(old, next *config.Config, cut []int) {
	gone := map[int]bool{}
	for i := range old.Pools {
		for j := range old.Pools[i].Members {
			gone[old.Pools[i].Members[j].ID] = true
		}
	}
	for i := range next.Pools {
		s.SetPool(s.Now(), dispatch.PoolID(next.Pools[i].ID), poolOf(next, i))
		for j := range next.Pools[i].Members {
			m := &next.Pools[i].Members[j]
			if m.ID < 0 {
				m.ID = int(s.AddMember(s.Now(), memberOf(next, i, j)))
			} else {
				s.SetMember(s.Now(), dispatch.MemberID(m.ID), memberOf(next, i, j))
			}
			delete(gone, m.ID)
		}
	}
	for id := range gone {
		s.RemoveMember(s.Now(), dispatch.MemberID(id))
		if slices.Contains(cut, id) {
			s.cut(id)
		}
	}
}

// Pause makes everybody in a pool wait, or ends that.
func (s *Stage) Pause(pool string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Dispatcher.Pause(s.Now(), s.poolID(pool), on)
	s.Changed(s.Now())
	s.pump()
	return nil
}

// Flush refuses those who wait in a pool and pass the filter.
func (s *Stage) Flush(pool string, f admin.Filter) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Dispatcher.Flush(s.Now(), s.poolID(pool), s.matching(f))
	s.Changed(s.Now())
	s.pump()
	return n, nil
}

// Waiters lists who waits.
func (s *Stage) Waiters(f admin.Filter, skip, most int) (page []admin.Waiter, total int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Config()
	for i := range c.Pools {
		list, n := s.Dispatcher.Waiters(dispatch.PoolID(c.Pools[i].ID), max(skip-total, 0), most-len(page), s.matching(f))
		for _, w := range list {
			page = append(page, admin.Waiter{WaiterView: w, Client: s.clients[w.Conn]})
		}
		total += n
	}
	return page, total, nil
}

func (s *Stage) matching(f admin.Filter) func(*dispatch.WaiterView) bool {
	match := f.Match(s.Config(), s.Now())
	return func(w *dispatch.WaiterView) bool { return match(w, s.clients[w.Conn].Addr()) }
}

// cut ends what is connected to a member.
func (s *Stage) cut(id int) {
	s.connected = slices.DeleteFunc(s.connected, func(c client) bool {
		on := int(c.path.Member) == id
		if on {
			s.Loop(0).Release(s.Now(), c.path)
		}
		return on
	})
}

func (s *Stage) poolID(name string) dispatch.PoolID {
	for _, p := range s.Config().Pools {
		if p.Name == name {
			return dispatch.PoolID(p.ID)
		}
	}
	panic("stage: no pool " + name)
}

// Client is an address of one's own for each number.
func Client(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}), uint16(1024+n))
}
