package main

import (
	"net/netip"
	"slices"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

// edit turns one configuration into another, while the loops stand still.
// What may fail comes first, and is undone if it does.
type edit struct {
	*control
	plan
	now  dispatch.Tick
	undo []func()
}

func (e *edit) do() error {
	e.addNodes()
	e.addPools()
	e.addMembers()
	if err := e.addVirtuals(); err != nil {
		for i := len(e.undo) - 1; i >= 0; i-- {
			e.undo[i]()
		}
		return err
	}
	e.setAll()
	e.removeAll()
	return nil
}

func (e *edit) addNodes() {
	for i := range e.next.Nodes {
		n := &e.next.Nodes[i]
		if n.ID >= 0 {
			continue
		}
		if id, ok := e.leavingNodes[n.Address]; ok {
			n.ID = id
			e.disp.ReviveNode(e.now, dispatch.NodeID(id), nodeOf(n))
		} else {
			n.ID = int(e.disp.AddNode(nodeOf(n)))
			delete(e.past.nodes, n.ID) // an earlier owner's
		}
		e.undo = append(e.undo, func() { e.disp.RemoveNode(e.now, dispatch.NodeID(n.ID)) })
	}
}

func (e *edit) addPools() {
	for i := range e.next.Pools {
		p := &e.next.Pools[i]
		if p.ID >= 0 {
			continue
		}
		p.ID = int(e.disp.AddPool(e.pools[i]))
		delete(e.past.pools, p.ID) // an earlier owner's
		e.proxy.SetPool(p.ID, dialsOf(p))
		e.undo = append(e.undo, func() { e.disp.RemovePool(e.now, dispatch.PoolID(p.ID)) })
	}
}

func (e *edit) addMembers() {
	for i := range e.next.Pools {
		p := &e.next.Pools[i]
		for j := range p.Members {
			m := &p.Members[j]
			if m.ID >= 0 {
				continue
			}
			c := e.members[i][j]
			c.Pool, c.Node = dispatch.PoolID(p.ID), dispatch.NodeID(e.next.Nodes[m.Node].ID)
			if id, ok := e.leaving[place{p.ID, m.Address}]; ok {
				m.ID = id
				e.reviveMember(id, c)
				continue
			}
			m.ID = int(e.disp.AddMember(e.now, c))
			e.proxy.SetMember(m.ID, p.ID, m.Address)
			e.undo = append(e.undo, func() { e.removeMember(m.ID) })
		}
	}
}

// reviveMember takes back a member that was removed. To a monitor it is new,
// and up.
func (e *edit) reviveMember(id int, c dispatch.MemberConfig) {
	e.disp.ReviveMember(e.now, dispatch.MemberID(id), c)
	e.disp.SetMemberUp(e.now, dispatch.MemberID(id), true)
	was := e.past.leaving[id]
	delete(e.past.leaving, id)
	e.undo = append(e.undo, func() {
		e.past.leaving[id] = was
		e.removeMember(id)
	})
}

func (e *edit) removeMember(id int) {
	e.disp.RemoveMember(e.now, dispatch.MemberID(id))
	if slices.Contains(e.cut, id) {
		e.proxy.ResetMember(id)
	}
}

// addVirtuals opens the listeners of new virtual servers, which may be where old
// ones are that go.
func (e *edit) addVirtuals() error {
	for _, id := range e.gone.virtuals {
		e.undo = append(e.undo, e.proxy.Yield(id))
	}
	var list []proxy.Opening
	for i := range e.next.Virtuals {
		v := &e.next.Virtuals[i]
		if v.ID >= 0 {
			continue
		}
		v.ID = int(e.disp.AddVirtual(virtualOf(e.next, i)))
		e.undo = append(e.undo, func() {
			e.proxy.CloseVirtual(v.ID)
			e.disp.RemoveVirtual(e.now, dispatch.VirtualID(v.ID))
		})
		list = append(list, proxy.Opening{ID: v.ID, Virtual: sessionsOf(e.next, i)})
		e.opened = append(e.opened, v)
	}
	return e.proxy.Open(list...)
}

// setAll gives what stays its new settings. Those that are the same change
// nothing.
func (e *edit) setAll() {
	for i := range e.next.Nodes {
		n := &e.next.Nodes[i]
		e.disp.SetNode(e.now, dispatch.NodeID(n.ID), nodeOf(n))
	}
	for i := range e.next.Pools {
		p := &e.next.Pools[i]
		e.disp.SetPool(e.now, dispatch.PoolID(p.ID), e.pools[i])
		e.proxy.SetPool(p.ID, dialsOf(p))
		for j := range p.Members {
			id := dispatch.MemberID(p.Members[j].ID)
			e.disp.SetMember(e.now, id, e.members[i][j])
			if p.Monitor == config.MonitorNone && e.monitored[p.ID] && e.disp.Member(id).Down {
				e.disp.SetMemberUp(e.now, id, true) // nobody is going to say it
			}
		}
	}
	for i := range e.next.Virtuals {
		id := e.next.Virtuals[i].ID
		e.disp.SetVirtual(e.now, dispatch.VirtualID(id), virtualOf(e.next, i))
		e.proxy.SetVirtual(id, sessionsOf(e.next, i))
	}
}

// removeAll takes out what is not there any more: who refers first.
func (e *edit) removeAll() {
	for _, id := range e.gone.virtuals {
		e.proxy.CloseVirtual(id)
		e.disp.RemoveVirtual(e.now, dispatch.VirtualID(id))
	}
	for _, m := range e.gone.members {
		e.past.leaving[m.id] = m.leaver
		e.removeMember(m.id)
	}
	for _, id := range e.gone.pools {
		e.disp.RemovePool(e.now, dispatch.PoolID(id))
	}
	for _, id := range e.gone.nodes {
		e.disp.RemoveNode(e.now, dispatch.NodeID(id))
	}
}

// memberKey names a member to its monitor.
func memberKey(p *config.Pool, at netip.AddrPort) string { return p.Name + "/" + at.String() }

// memberOfKey finds it again; -1 if it is not there any more.
func memberOfKey(c *config.Config, key string) (i, j int) {
	for i := range c.Pools {
		for j := range c.Pools[i].Members {
			if memberKey(&c.Pools[i], c.Pools[i].Members[j].Address) == key {
				return i, j
			}
		}
	}
	return -1, -1
}
