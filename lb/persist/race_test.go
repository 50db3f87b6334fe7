package persist

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seams counts the generations that were put in front of others.
type seams struct{ begun, there atomic.Int64 }

// stir puts a new generation in front now and then, and drains the older ones.
func (t *Table) stir(rnd *rand.Rand, s *seams) {
	if l := t.list.Load(); len(l.older) < 4 && rnd.IntN(50) == 0 {
		s.begun.Add(1)
		t.putInFront(l, 1)
		s.there.Add(1)
	}
	for range rnd.IntN(10) {
		t.drain(1)
	}
}

// Many loops see the same sources for the first time at once, each with
// another member in mind, while the table grows and its generations change.
// All go to one member.
func TestFirstConnectionsAgree(t *testing.T) {
	const loops, sources = 6, 60_000 / slower
	tab := New(1, 32, 128, 180*second)
	var got [loops][sources]uint16
	var seams seams
	var wg sync.WaitGroup
	for loop := range loops {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(5, uint64(loop)))
			for i := range uint32(sources) {
				got[loop][i] = tab.claim4(0, i, uint16(loop))
				tab.stir(rnd, &seams)
			}
		})
	}
	wg.Wait()
	won := map[uint16]int{}
	for i := range uint32(sources) {
		for loop := range loops {
			if got[loop][i] != got[0][i] {
				t.Fatalf("source %d: loop 0 goes to %d, loop %d to %d", i, got[0][i], loop, got[loop][i])
			}
		}
		if id, ok := tab.find4(0, i); !ok || id != got[0][i] {
			t.Fatalf("source %d: at last %d, %v", i, id, ok)
		}
		won[got[0][i]]++
	}
	t.Logf("sources won by loop: %v", won)
}

// A new generation comes in front, and the record moves there, while a claim
// looks at it in the old one.
func TestClaimAtTheSeam(t *testing.T) {
	hi, lo := v4(1)
	for _, first := range []Tick{0, 5 * second} { // the claim has nothing to write, or a newer stamp
		tab := New(1, 32, 128, 180*second)
		tab.claim4(0, 1, 5)
		moved := false
		got := tab.Claim(first, hi, lo, Member{ID: 9}, func(Member) bool {
			if !moved {
				moved = true
				tab.putInFront(tab.list.Load(), 1)
				if !tab.Move(0, hi, lo, Member{ID: 5}, Member{ID: 6}) {
					t.Error("not moved")
				}
			}
			return true
		})
		if got.ID != 6 {
			t.Errorf("member %d, want that to which it moved", got.ID)
		}
	}
}

// A record is claimed in a generation that is drained and let go meanwhile.
func TestClaimWhileDrained(t *testing.T) {
	hi, lo := v4(1)
	tab := New(1, 32, 128, 180*second)
	tab.claim4(0, 1, 5)
	tab.putInFront(tab.list.Load(), 1)
	once := true
	got := tab.Claim(0, hi, lo, Member{ID: 9}, func(m Member) bool {
		if once {
			once = false
			tab.putInFront(tab.list.Load(), 1)
			for len(tab.list.Load().older) > 0 {
				tab.drain(1)
			}
		}
		return m.ID == 9
	})
	if id, ok := tab.find4(0, 1); got.ID != 9 || !ok || id != 9 {
		t.Errorf("claimed by %d; then %d, %v", got.ID, id, ok)
	}
}

// asked is one call in a history, for porcupine.
type asked struct {
	kind   kind
	source uint32
	want   uint16
	from   uint16 // move: from; claim: not usable
	seams  int    // that the call may have met: so often it may have had to do it again
	maybe  bool   // what it may have done before
}

// mostAgain bounds how often a call may have counted before: a call that is held up
// meets more seams, but all that it wrote at them would have to be taken up by others
// and undone before the next. In one run of some thirty a call counts three times.
const mostAgain = 6

type answered struct {
	id uint16
	ok bool
}

// then returns what the record says after a call, and the answer; -1: no
// record.
func (a asked) then(has int) (int, answered) {
	switch {
	case a.kind == claim && (has < 0 || has == int(a.from)):
		has = int(a.want)
	case a.kind == move && (has < 0 || has != int(a.from) && has != int(a.want)):
		return has, answered{}
	case a.kind == move:
		has = int(a.want)
	}
	return has, answered{uint16(max(has, 0)), has >= 0}
}

// register is one source's record. A call that met the seam of two generations
// may count twice, and once more for each seam that it met then.
var register = porcupine.NondeterministicModel{
	Partition: bySource,
	Init:      func() []any { return []any{-1} },
	Step: func(state, input, output any) []any {
		a := input.(asked)
		has, answer := a.then(state.(int))
		switch {
		case a.maybe:
			return []any{state, has}
		case answer == output.(answered):
			return []any{has}
		}
		return nil
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " ", out) },
}

func bySource(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	by := map[uint32][]porcupine.Operation{}
	for _, op := range history {
		a := op.Input.(asked)
		by[a.source] = append(by[a.source], op)
		if a.kind == find {
			continue
		}
		a.maybe = true
		for range min(a.seams, mostAgain) {
			op.Input, op.ClientId = a, op.ClientId+1000
			by[a.source] = append(by[a.source], op)
		}
	}
	for _, part := range by {
		parts = append(parts, part)
	}
	return parts
}

// do makes the call.
func (t *Table) do(a asked) answered {
	hi, lo := v4(a.source)
	switch a.kind {
	case claim:
		m := t.Claim(0, hi, lo, Member{ID: a.want}, func(m Member) bool {
			runtime.Gosched()
			return m.ID != a.from
		})
		return answered{m.ID, true}
	case move:
		if !t.Move(0, hi, lo, Member{ID: a.from}, Member{ID: a.want}) {
			return answered{}
		}
		return answered{a.want, true}
	default:
		m, ok := t.Find(0, hi, lo)
		return answered{m.ID, ok}
	}
}

// history has loops do things at random with a few sources while generations
// change, and returns what they saw.
func history(round uint64) (all []porcupine.Operation) {
	const loops, calls, sources = 4, 60, 3
	tab := New(round, 32, 128, 180*second)
	var clock atomic.Int64
	var seams seams
	var wg sync.WaitGroup
	var logs [loops][]porcupine.Operation
	for loop := range loops {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(round, uint64(loop)))
			for range calls {
				a := asked{kind: kind(rnd.IntN(3)), source: rnd.Uint32N(sources), want: uint16(rnd.IntN(4)), from: uint16(rnd.IntN(4))}
				there, called := seams.there.Load(), clock.Add(1)
				out := tab.do(a)
				returned := clock.Add(1)
				a.seams = int(seams.begun.Load() - there)
				logs[loop] = append(logs[loop], porcupine.Operation{
					ClientId: loop, Input: a, Call: called, Output: out, Return: returned})
				tab.stir(rnd, &seams)
			}
		})
	}
	wg.Wait()
	for _, log := range logs {
		all = append(all, log...)
	}
	return all
}

// Whatever several loops do, it is as if they had done it one after the other.
func TestHistoriesAreInOrder(t *testing.T) {
	model := register.ToModel()
	for round := range uint64(400 / slower) {
		if !porcupine.CheckOperations(model, history(round)) {
			t.Fatalf("round %d: not in any order", round)
		}
	}
}
