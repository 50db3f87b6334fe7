package main

import (
	"fmt"
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
	now       dispatch.Tick
	old, next *config.Config
	cut       []int // members whose connections end with them
	undo      []func()

	// Numbers of what was removed and has connections still: if it comes back,
	// it has them again, or else these would not count in its limits.
	leaving      map[place]int
	leavingNodes map[netip.Addr]int

	opened []*config.Virtual // for the log, when the loops go on
}

func (e *edit) do() error {
	e.leaving, e.leavingNodes = e.past.numbers()
	if len(e.leaving) > config.MostObjects {
		return fmt.Errorf("%d members that were removed have connections still; allowed are %d", len(e.leaving), config.MostObjects)
	}
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
			e.past.freshNode(n.ID)
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
		p.ID = int(e.disp.AddPool(poolOf(e.next, i)))
		e.past.freshPool(p.ID)
		e.proxy.SetPool(p.ID, dialsOf(p))
		e.undo = append(e.undo, func() { e.disp.RemovePool(e.now, dispatch.PoolID(p.ID)) })
	}
}

func (e *edit) addMembers() {
	for i := range e.next.Pools {
		for j := range e.next.Pools[i].Members {
			m := &e.next.Pools[i].Members[j]
			if m.ID >= 0 {
				continue
			}
			if id, ok := e.leaving[place{e.next.Pools[i].ID, m.Address}]; ok {
				m.ID = id
				e.reviveMember(i, j)
				continue
			}
			m.ID = int(e.disp.AddMember(e.now, memberOf(e.next, i, j)))
			e.proxy.SetMember(m.ID, e.next.Pools[i].ID, m.Address)
			e.undo = append(e.undo, func() { e.removeMember(m.ID) })
		}
	}
}

// reviveMember takes back a member that was removed. To a monitor it is new,
// and up.
func (e *edit) reviveMember(i, j int) {
	id := e.next.Pools[i].Members[j].ID
	e.disp.ReviveMember(e.now, dispatch.MemberID(id), memberOf(e.next, i, j))
	e.disp.SetMemberUp(e.now, dispatch.MemberID(id), true)
	was := e.past.comeBack(id)
	e.undo = append(e.undo, func() {
		e.past.leave(id, was)
		e.removeMember(id)
	})
}

func (e *edit) removeMember(id int) {
	e.disp.RemoveMember(e.now, dispatch.MemberID(id))
	if slices.Contains(e.cut, id) {
		e.proxy.ResetMember(id)
	}
}

// addVirtuals opens the listeners of new virtual servers.
func (e *edit) addVirtuals() error {
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
		e.disp.SetPool(e.now, dispatch.PoolID(p.ID), poolOf(e.next, i))
		e.proxy.SetPool(p.ID, dialsOf(p))
		for j := range p.Members {
			id := dispatch.MemberID(p.Members[j].ID)
			e.disp.SetMember(e.now, id, memberOf(e.next, i, j))
			if p.Monitor == config.MonitorNone && e.disp.Member(id).Down {
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
	virtuals, pools, members, nodes := numbers(e.next)
	for i := range e.old.Virtuals {
		if id := e.old.Virtuals[i].ID; !virtuals[id] {
			e.proxy.CloseVirtual(id)
			e.disp.RemoveVirtual(e.now, dispatch.VirtualID(id))
		}
	}
	for i := range e.old.Pools {
		p := &e.old.Pools[i]
		for j := range p.Members {
			if id := p.Members[j].ID; !members[id] {
				e.past.leave(id, leaver{p.ID, e.old.Nodes[p.Members[j].Node].ID, p.Members[j].Address})
				e.removeMember(id)
			}
		}
		if !pools[p.ID] {
			e.disp.RemovePool(e.now, dispatch.PoolID(p.ID))
		}
	}
	for i := range e.old.Nodes {
		if id := e.old.Nodes[i].ID; !nodes[id] {
			e.disp.RemoveNode(e.now, dispatch.NodeID(id))
		}
	}
}

// numbers are those that a configuration names.
func numbers(c *config.Config) (virtuals, pools, members, nodes map[int]bool) {
	virtuals, pools, members, nodes = map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}
	for i := range c.Virtuals {
		virtuals[c.Virtuals[i].ID] = true
	}
	for i := range c.Pools {
		pools[c.Pools[i].ID] = true
		for j := range c.Pools[i].Members {
			members[c.Pools[i].Members[j].ID] = true
		}
	}
	for i := range c.Nodes {
		nodes[c.Nodes[i].ID] = true
	}
	return virtuals, pools, members, nodes
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
