package main

// demand is what a grip needs before it is a whole path.
type demand uint8

const (
	whole    demand = iota // nothing
	token                  // the counter above
	hopeless               // a member, and there is none left to try
)

// demand chooses the next member when it gets to that.
func (t *turn) demand(g *grip) demand {
	prefix := len(t.virtualOf(g.conn).prefix)
	if int(g.level) < prefix {
		return token
	}
	if g.member < 0 {
		g.member = t.candidate(g)
	}
	switch {
	case g.member < 0:
		return hopeless
	case g.level < t.pathLen(g.conn, g.member):
		return token
	}
	return whole
}

// candidate is the member after the g.tried first ones, -1 for none.
func (t *turn) candidate(g *grip) int8 {
	if sticky := t.s.conn[g.conn].sticky; sticky > 0 {
		if g.tried == 0 {
			return int8(sticky - 1)
		}
		return -1
	}
	members := t.virtualOf(g.conn).members
	avoided := t.avoids(g.conn)
	for int(g.tried) < len(members) {
		m := members[g.tried]
		if avoided&(1<<m) == 0 {
			return int8(m)
		}
		g.tried++
	}
	return -1
}

// advance goes on with taking the path.
func (t *turn) advance() {
	me := t.me()
	switch t.demand(&me.grip) {
	case whole:
		if t.backoff {
			me.pc = claimMember
			return
		}
		t.persistLoop()
	case hopeless:
		t.giveBack(givingUp)
	case token:
		if t.asks(&me.grip) {
			me.pc = askMember
			return
		}
		t.toTake()
	}
}

func (t *turn) toTake() {
	me := t.me()
	me.pc = takeToken
	if t.counters[t.above(&me.grip)].changes {
		me.pc = takeStrict
	}
}

// ask is the look at the member's state, where that is a step of its own.
func (t *turn) ask() {
	if !t.eligible(&t.me().grip, t.me().now) {
		t.giveBack(nextMember)
		return
	}
	t.toTake()
}

// take is one step: an empty own shard stays empty while only its own loop
// adds to it, so looking at it and then at the word is looking at the word.
func (t *turn) take() {
	me := t.me()
	if t.isDown(&me.grip) {
		t.giveBack(nextMember)
		return
	}
	c := t.above(&me.grip)
	extra, ok := t.takeOne(c, me.strict && t.fault != shardWhileStrict)
	me.strict = false
	if !ok {
		me.early = false
		if me.member < 0 {
			t.giveBack(givingUp)
		} else {
			t.giveBack(nextMember)
		}
		return
	}
	me.level++
	if !me.early {
		t.checkTaken(c)
	}
	me.early = false
	if extra > 0 {
		me.extra = extra
		me.pc = leaseAdd
		return
	}
	t.advance()
}

// takeOne takes a token of c for the loop, and extra ones as a lease while
// nobody waits.
func (t *turn) takeOne(c int, strict bool) (extra int8, ok bool) {
	word, shard, lease := &t.s.word[c], &t.s.shard[c][t.id], t.counters[c].lease
	switch {
	case !strict && *shard > 0:
		*shard--
		return 0, true
	case !strict && !t.me().flags && *word > lease:
		*word -= 1 + lease
		return lease, true
	case *word > 0:
		*word--
		return 0, true
	}
	return 0, false
}

func (t *turn) addLease() {
	me := t.me()
	if t.fault != leaseForgotten {
		t.s.shard[t.top(&me.grip)][t.id] += me.extra
	}
	me.extra = 0
	if t.fault != noLookAfterLease {
		me.owes, me.sharded = true, true
	}
	t.advance()
}

// proceed: the path is whole and belongs to the connection.
func (t *turn) proceed() {
	me := t.me()
	if me.saw {
		t.fail("connection %d saw that the pool has waiters, and was let in before them", me.conn)
	}
	t.own(me.grip)
	me.grip = noGrip
	t.lookOr(me.owes)
}

// own hands a whole path over to its connection.
func (t *turn) own(g grip) {
	c := &t.s.conn[g.conn]
	c.phase, c.member, c.holds = up, g.member, true
	c.probe, c.dialling = g.probe, t.backoff
	if !t.anyMoment {
		t.checkDial(g.conn)
	}
	t.checkRecord(g.conn, g.member)
}
