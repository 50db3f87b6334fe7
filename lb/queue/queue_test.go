package queue

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

func TestEntryIs32Bytes(t *testing.T) {
	if n := unsafe.Sizeof(Entry{}); n != 32 {
		t.Errorf("Entry has %d bytes", n)
	}
}

// drain empties the queue, and checks its length on the way.
func drain(t *testing.T, q *Queue) (got []Entry) {
	t.Helper()
	for n := q.Len(); q.Head() != nil; n-- {
		if q.Len() != n {
			t.Fatalf("length %d, want %d", q.Len(), n)
		}
		got = append(got, *q.Head())
		q.Pop()
	}
	if q.Len() != 0 {
		t.Fatalf("length %d of an empty queue", q.Len())
	}
	return got
}

// model is the entries put into a queue, in the order in which they came.
// Those of the same ticket and loop are served in that order.
type model []Entry

func (m model) sorted() []Entry {
	s := slices.Clone(m)
	slices.SortStableFunc(s, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Loop, b.Loop))
	})
	return s
}

// random fills a queue of several loops: mostly in the order of time, some
// late, some back with old tickets, some at the same instant.
func random(rnd *rand.Rand, q *Queue, n, loops int) (m model) {
	for i := range n {
		e := Entry{Since: int64(1 + i/3), Loop: uint16(rnd.IntN(loops)), Slot: uint32(i)}
		switch rnd.IntN(6) {
		case 0: // late
			e.Since = 1 + rnd.Int64N(e.Since)
			q.Push(e)
		case 1: // back; a ticket of its own
			e.Since, e.Loop = rnd.Int64N(e.Since), uint16(loops+i)
			q.PushBack(e)
		default:
			q.Push(e)
		}
		m = append(m, e)
	}
	return m
}

// byTicket drops what tells entries of the same loop and ticket apart: of
// those, the late ones may go before the others.
func byTicket(es []Entry) []Entry {
	es = slices.Clone(es)
	for i := range es {
		es[i].Slot = 0
	}
	return es
}

func TestOrderIsThatOfASort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		q := New(4)
		m := random(rnd, q, 400, 4)
		if got := drain(t, q); !slices.Equal(byTicket(got), byTicket(m.sorted())) {
			t.Fatal("not served in the order of tickets")
		}
	}
}

// Who came first at the same instant on the same loop goes first, in the
// lanes and in the heap.
func TestSameTicketFirstCome(t *testing.T) {
	for name, push := range map[string]func(*Queue, Entry){"lane": (*Queue).Push, "heap": (*Queue).PushBack} {
		q := New(1)
		var m model
		for i := range 300 {
			m = append(m, Entry{Since: int64(i / 50), Slot: uint32(i)})
			push(q, m[i])
		}
		if !slices.Equal(drain(t, q), m) {
			t.Errorf("%s: not in the order in which they came", name)
		}
	}
}

func TestHeadFollowsPushes(t *testing.T) {
	q := New(2)
	for _, step := range []struct {
		back bool
		Entry
		head int64
	}{
		{false, Entry{Since: 5}, 5},
		{false, Entry{Since: 3, Loop: 1}, 3},
		{true, Entry{Since: 4}, 3},
		{true, Entry{Since: 1}, 1},
		{false, Entry{Since: 2}, 1},
	} {
		if step.back {
			q.PushBack(step.Entry)
		} else {
			q.Push(step.Entry)
		}
		if head := q.Head().Since; head != step.head {
			t.Fatalf("head %d after %d, want %d", head, step.Since, step.head)
		}
	}
	if got := drain(t, q); len(got) != 5 || got[0].Since != 1 || got[4].Since != 5 {
		t.Errorf("drained %v", got)
	}
}

func TestCompactKeepsTheOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	for _, share := range []int{0, 1, 2, 10} {
		q := New(4)
		m := random(rnd, q, 2000, 4)
		keep := func(e *Entry) bool { return share != 0 && int(e.Slot)%share == 0 }
		var kept model
		for _, e := range m {
			if keep(&e) {
				kept = append(kept, e)
			}
		}
		if gone := q.Compact(keep); gone != len(m)-len(kept) {
			t.Errorf("%d went, want %d", gone, len(m)-len(kept))
		}
		more := Entry{Since: 1 << 40, Slot: 7}
		q.Push(more)
		if got := drain(t, q); !slices.Equal(byTicket(got), byTicket(append(kept, more).sorted())) {
			t.Errorf("1 of %d kept: not in order, or not those", share)
		}
	}
}

// C21: the memory of those who went is given up, wherever they stood.
func TestCompactGivesUpMemory(t *testing.T) {
	const n = 200_000
	for name, push := range map[string]func(*Queue, Entry){"lane": (*Queue).Push, "heap": (*Queue).PushBack} {
		q := New(1)
		before := heapInUse()
		for i := range n {
			push(q, Entry{Since: int64(i), Slot: uint32(i)})
		}
		q.Compact(func(e *Entry) bool { return e.Slot == 0 })
		if kept := heapInUse() - before; kept > 64<<10 {
			t.Errorf("%s: %d bytes for one entry", name, kept)
		}
		runtime.KeepAlive(q)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestSteadyUseAllocatesNothing(t *testing.T) {
	q := New(4)
	i := 0
	step := func() {
		q.Push(Entry{Since: int64(i), Loop: uint16(i % 4)})
		i++
		q.Pop()
	}
	for range 2000 {
		step()
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPushHeadPop(b *testing.B) {
	q := New(4)
	i := 0
	for b.Loop() {
		q.Push(Entry{Since: int64(i), Loop: uint16(i % 4)})
		i++
		q.Head()
		q.Pop()
	}
}

// An empty lane has no order to keep: a queue that is used again takes old
// tickets as quickly as new ones.
func TestEmptyLaneTakesOldTickets(t *testing.T) {
	q := New(1)
	q.Push(Entry{Since: 9})
	q.Pop()
	q.Push(Entry{Since: 5})
	q.Push(Entry{Since: 7})
	if n := len(q.back.items); n != 0 {
		t.Errorf("%d of 2 entries took the way of the late ones", n)
	}
	if got := drain(t, q); len(got) != 2 || got[0].Since != 5 {
		t.Errorf("drained %v", got)
	}
}
