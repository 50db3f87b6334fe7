package dispatch

import (
	"container/heap"

	"penstock/lb/queue"
)

// What operators do with a queue. As in edit.go, the loops stand still, and
// Changed ends it.

// Pause holds a pool's queue, or lets it go on: meanwhile nobody is sent to a
// server, newcomers wait, and clocks go on.
func (d *Dispatcher) Pause(_ Tick, id PoolID, on bool) {
	pl := d.pools[id]
	if on && !pl.waiting.Load() {
		pl.waiting.Store(true)
		pl.home.flagged++
		pl.home.flags.Or(flagWaiting)
	}
	pl.paused.Store(on)
}

// WaiterView is a waiter as people see it.
type WaiterView struct {
	Loop     int
	Conn     uint32 // as given to Arrive
	Virtual  VirtualID
	Pool     PoolID
	Member   int // whose queue it waits in; -1: the pool's
	Since    Tick
	Class    uint8
	Tries    uint8 // dials that failed
	Position int64 // in the pool, all queues together; 1 is next
}

// Waiters returns up to most of a pool's waiters that keep wants (nil: all), in
// the order in which they are served if all can be, without the first skip of
// them; and how many keep wants altogether. (In a fair pool the order is that
// of arrival.) Without keep it looks at no more than it returns or skips.
func (d *Dispatcher) Waiters(id PoolID, skip, most int, keep func(*WaiterView) bool) (page []WaiterView, total int) {
	seen := 0
	d.eachWaiter(id, func(w *WaiterView, _ *queue.Entry, _ *group) bool {
		if keep != nil && !keep(w) {
			return true
		}
		if seen++; seen > skip && len(page) < most {
			page = append(page, *w)
		}
		return keep != nil || len(page) < most
	})
	if keep == nil {
		return page, d.pools[id].waits()
	}
	return page, seen
}

// waits counts those who wait in the pool's queue and its members'.
func (pl *pool) waits() (n int) {
	for _, v := range pl.virtuals {
		n += int(v.waits.Load())
	}
	return n
}

// Flush refuses those waiters of a pool that drop wants, and returns how many.
func (d *Dispatcher) Flush(now Tick, id PoolID, drop func(*WaiterView) bool) (n int) {
	p := pass{home: d.pools[id].home, loop: d.loops[0], now: now}
	d.eachWaiter(id, func(w *WaiterView, e *queue.Entry, g *group) bool {
		if drop(w) {
			p.refuse(g, *e, flushed)
			n++
		}
		return true
	})
	return n
}

// eachWaiter calls do for each waiter of a pool, oldest first, until it says
// false.
func (d *Dispatcher) eachWaiter(id PoolID, do func(*WaiterView, *queue.Entry, *group) bool) {
	pl := d.pools[id]
	d.drainHome(pl.home, 0)
	p := pass{home: pl.home}
	var m merge
	for _, g := range pl.home.active {
		if g.virtual.pool == pl {
			m.add(g)
		}
	}
	heap.Init(&m)
	var view WaiterView
	for position := int64(0); len(m) > 0; {
		if e := m[0].head; p.alive(e) {
			position++
			view = viewOf(m[0].group, e, position)
			if !do(&view, e, m[0].group) {
				return
			}
		}
		if m[0].head = m[0].cursor.Next(); m[0].head == nil {
			heap.Pop(&m)
		} else {
			heap.Fix(&m, 0)
		}
	}
}

func viewOf(g *group, e *queue.Entry, position int64) WaiterView {
	r := g.virtual.pool.home.d.loops[e.Loop].table.at(e.Slot)
	return WaiterView{
		Loop: int(e.Loop), Virtual: g.virtual.id, Pool: g.virtual.pool.id, Member: int(state(r.state.Load()).member()) - 1,
		Conn: r.conn, Since: Tick(e.Since), Class: e.Mark & classBits, Tries: e.Tries, Position: position,
	}
}

// merge reads several queues in the order in which their waiters are served.
type merge []merging

type merging struct {
	group  *group
	cursor *queue.Cursor
	head   *queue.Entry
}

func (m *merge) add(g *group) {
	c := g.queue.Cursor()
	if e := c.Next(); e != nil {
		*m = append(*m, merging{g, c, e})
	}
}

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return before(m[i].group, m[i].head, m[j].group, m[j].head) }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(merging)) }

func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
