package main

// A home has a queue for each set of waiters who want the same: of a virtual
// server, persisted to the same member or to none, and refused by the same
// members. So what blocks the head of a queue blocks all of it.

// queueOf numbers the queue that conn is to stand in.
func (t *turn) queueOf(conn int8) uint8 {
	q := uint8(t.clients[conn].virtual) << 5
	if sticky := t.s.conn[conn].sticky; sticky > 0 {
		return q | sticky<<3
	}
	if t.fault == mixedQueue {
		return q
	}
	return q | t.s.conn[conn].excluded
}

func queueBit(q uint8) uint64 { return 1 << q }

// isHead says whether conn has the oldest ticket of those in its queue.
func (t *turn) isHead(conn int8) bool {
	c := &t.s.conn[conn]
	if c.place != inQueue {
		return false
	}
	q := t.queueOf(conn)
	for i := range t.clients {
		o := &t.s.conn[i]
		if o.place == inQueue && o.ticket < c.ticket && t.queueOf(int8(i)) == q {
			return false
		}
	}
	return true
}

// enters puts conn into its queue. An empty one has no memo.
func (t *turn) enters(conn int8) {
	q := t.queueOf(conn)
	empty := true
	for i := range t.clients {
		empty = empty && !(t.s.conn[i].place == inQueue && t.queueOf(int8(i)) == q)
	}
	t.s.conn[conn].place = inQueue
	if empty {
		t.s.home.blocked &^= queueBit(q)
	}
	if t.isHead(conn) {
		t.s.home.checked &^= queueBit(q)
	}
}

// takeOff takes the head conn off its queue. The next one is to be checked.
func (t *turn) takeOff(conn int8) {
	t.s.conn[conn].place = nowhere
	if t.fault != deadHeadTried {
		t.s.home.checked &^= queueBit(t.queueOf(conn))
	}
}
