package limit

import "sync/atomic"

const (
	// None is the limit of a counter without a limit. It is a number like any
	// other, so that a limit can be set and lifted with nothing to recount.
	None int64 = 1 << 40

	// maxLease bounds how many tokens lie idle in one shard.
	maxLease = 1 << 20

	// sharers is how many leases a loop's share of the limit is cut into: a
	// counter with less than that many tokens a loop has no shards.
	sharers = 8
)

// Counter is one limit: of a virtual server, a pool, a member or a node.
// Made by New; methods may be called by any loop at any time, with the loop's
// own number.
type Counter struct {
	word atomic.Int64 // free tokens; below zero, how many are to come back first
	_    [56]byte

	asked  atomic.Int64  // the limit somebody asked for last
	limit  atomic.Int64  // the limit in force: how many tokens there are. Written by the home
	lease  atomic.Int64  // most tokens in a shard; 0: no shards
	strict atomic.Bool   // a debt is being paid: the shards are out of use
	most   atomic.Int64  // the most in use that Note saw
	begun  atomic.Uint32 // times somebody carried tokens between word and shards, where
	ended  atomic.Uint32 // they are in neither, and times it was done
	shards []shard
	_      [56]byte // 192 bytes: a size that the allocator aligns to cache lines
}

// shard is a loop's own free tokens, on a cache line of its own.
type shard struct {
	free atomic.Int64
	_    [56]byte
}

// New makes a counter for the given number of loops. A limit of 0 is None.
func New(limit int64, loops int) *Counter {
	c := &Counter{shards: make([]shard, loops)}
	limit = effective(limit)
	c.word.Store(limit)
	c.asked.Store(limit)
	c.limit.Store(limit)
	c.lease.Store(c.leaseFor(limit))
	return c
}

func effective(limit int64) int64 {
	if limit == 0 {
		return None
	}
	return limit
}

func (c *Counter) leaseFor(limit int64) int64 {
	return min(limit/int64(sharers*len(c.shards)), maxLease)
}

// Limit returns the limit that was asked for last; None if there is none.
func (c *Counter) Limit() int64 { return c.asked.Load() }

// Limited says whether there is a limit.
func (c *Counter) Limited() bool { return c.Limit() != None }

// Strict says whether the counter pays off a debt.
func (c *Counter) Strict() bool { return c.strict.Load() }

// Take takes a token for a newcomer on the loop. With lease it may take more
// than one from the word and leave the rest in the shard; left then says that
// it did, and the caller must look for waiters as after giving.
func (c *Counter) Take(loop int, lease bool) (ok, left bool) {
	if c.strict.Load() {
		return c.TakeWord(), false
	}
	if c.takeShard(loop) {
		return true, false
	}
	if !lease {
		return c.TakeWord(), false
	}
	return c.takeLease(loop)
}

func (c *Counter) takeShard(loop int) bool {
	s := &c.shards[loop].free
	for {
		n := s.Load()
		if n <= 0 {
			return false
		}
		if s.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// takeLease takes one token and up to a lease more, the fewer the less is
// free, so that no shard hoards the last ones.
func (c *Counter) takeLease(loop int) (ok, left bool) {
	for {
		w := c.word.Load()
		if w <= 0 {
			return false, false
		}
		more := min(c.lease.Load(), w/int64(sharers*len(c.shards)))
		if more == 0 {
			if c.word.CompareAndSwap(w, w-1) {
				return true, false
			}
			continue
		}
		if c.carry(loop, w, more) {
			return true, true
		}
	}
}

// carry takes a token and more from a word of w, and puts these into the shard.
func (c *Counter) carry(loop int, w, more int64) bool {
	c.begun.Add(1)
	defer c.ended.Add(1)
	if !c.word.CompareAndSwap(w, w-1-more) {
		return false
	}
	c.shards[loop].free.Add(more)
	return true
}

// TakeWord takes a token from the word alone: what the home may hand out.
func (c *Counter) TakeWord() bool {
	for {
		w := c.word.Load()
		if w <= 0 {
			return false
		}
		if c.word.CompareAndSwap(w, w-1) {
			return true
		}
	}
}

// Force takes a token whether or not there is one: below zero it is a debt, as
// after a lowered limit; see Apply for announce. Only the home calls it.
func (c *Counter) Force(announce func()) {
	if c.TakeWord() {
		return
	}
	c.strict.Store(true)
	announce()
	c.word.Add(-1)
}

// Give gives a token back, to the word if toWord. sharded says that it went
// to the shard, where a home sees it only after a Sweep.
func (c *Counter) Give(loop int, toWord bool) (sharded bool) {
	if toWord || c.strict.Load() {
		c.word.Add(1)
		return false
	}
	s := &c.shards[loop].free
	if s.Load() >= c.lease.Load() {
		c.word.Add(1)
		return false
	}
	s.Add(1)
	return true
}

// GiveWord undoes TakeWord.
func (c *Counter) GiveWord() { c.word.Add(1) }

// Sweep moves all tokens of the shards to the word.
func (c *Counter) Sweep() {
	for i := range c.shards {
		s := &c.shards[i].free
		if s.Load() != 0 {
			c.begun.Add(1)
			c.word.Add(s.Swap(0))
			c.ended.Add(1)
		}
	}
}

// Settle ends strictness if the debt is paid, and says whether it is still
// strict. Called by the home after a Sweep. Only the home lowers a limit, so a
// word that is not negative here stays so.
func (c *Counter) Settle() (strict bool) {
	if !c.strict.Load() {
		return false
	}
	if c.word.Load() < 0 {
		return true
	}
	c.strict.Store(false)
	return false
}

// Set asks for another limit; 0 is None. The home puts it into force. True if
// it is another one.
func (c *Counter) Set(limit int64) bool {
	limit = effective(limit)
	return c.asked.Swap(limit) != limit
}

// Apply puts into force what Set asked for. Nothing in use is taken away: a
// limit below what is in use leaves a debt; announce then tells those who
// give tokens back, before there is one. Only the home calls it, and sweeps
// afterwards. (Lowered by anybody else, strict could be set, settled by the
// home since there is no debt yet, and the debt come after that.)
func (c *Counter) Apply(announce func()) {
	limit, old := c.asked.Load(), c.limit.Load()
	if limit == old {
		return
	}
	c.lease.Store(c.leaseFor(limit))
	if limit < old {
		// Strict first: from here on nobody hides a token in a shard unseen.
		c.strict.Store(true)
		announce()
	}
	c.limit.Store(limit)
	c.word.Add(limit - old)
}

// Note looks how many are in use, for Most. While tokens are carried about, it
// can't tell these from used ones, and lets it be.
func (c *Counter) Note() {
	begun := c.begun.Load()
	if begun != c.ended.Load() {
		return
	}
	n := c.InUse()
	if begun != c.begun.Load() {
		return
	}
	for {
		m := c.most.Load()
		if n <= m || c.most.CompareAndSwap(m, n) {
			return
		}
	}
}

// Most returns the most that Note, or this call, has seen in use.
func (c *Counter) Most() int64 {
	c.Note()
	return c.most.Load()
}

// InWord says whether TakeWord would find a token.
func (c *Counter) InWord() bool { return c.word.Load() > 0 }

// Below says whether one more may be in use, be the token in reach or not.
func (c *Counter) Below() bool { return c.InUse() < c.limit.Load() }

// InForce returns the limit that Apply put into force last.
func (c *Counter) InForce() int64 { return c.limit.Load() }

// InUse returns the tokens in use. While tokens move it may be off by the
// few that are on their way; at rest it is exact.
func (c *Counter) InUse() int64 {
	free := c.word.Load()
	for i := range c.shards {
		free += c.shards[i].free.Load()
	}
	return c.limit.Load() - free
}
