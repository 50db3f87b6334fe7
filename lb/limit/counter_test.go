package limit

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set changes the limit as a home does.
func set(c *Counter, limit int64) {
	c.Set(limit)
	c.Apply(func() {})
	c.Sweep()
	c.Settle()
}

// takeAll takes on the loop until nothing is left, and returns how many.
func takeAll(c *Counter, loop int) (n int64) {
	for {
		if ok, _ := c.Take(loop, true); !ok {
			return n
		}
		n++
	}
}

func give(c *Counter, loop int, n int64) {
	for range n {
		c.Give(loop, false)
	}
}

func expectUse(t *testing.T, c *Counter, want int64) {
	t.Helper()
	if n := c.InUse(); n != want {
		t.Fatalf("in use %d, want %d", n, want)
	}
}

func TestTakesAsManyAsTheLimit(t *testing.T) {
	for _, limit := range []int64{1, 2, 15, 16, 100, 10_000} {
		for _, loops := range []int{1, 2, 8} {
			c := New(limit, loops)
			n := takeAll(c, 0)
			if n != limit {
				t.Fatalf("limit %d, %d loops: %d taken", limit, loops, n)
			}
			expectUse(t, c, limit)
			give(c, 0, n)
			expectUse(t, c, 0)
		}
	}
}

// What a loop keeps in its shard is seen by others after a sweep, and not
// lost on the way.
func TestSweepBringsTokensIntoSight(t *testing.T) {
	const limit = 1000
	c := New(limit, 4)
	for loop := range 4 {
		n := takeAll(c, loop)
		give(c, loop, n)
	}
	n := takeAll(c, 0)
	if n == limit {
		t.Fatal("the other loops keep nothing: the test shows nothing")
	}
	c.Sweep()
	for c.TakeWord() {
		n++
	}
	if n != limit {
		t.Errorf("%d taken of %d", n, limit)
	}
}

// Small limits have no shards: every free token is in the word at all times.
func TestSmallLimitsHaveNoShards(t *testing.T) {
	for loops := 1; loops <= 8; loops++ {
		small := int64(sharers*loops - 1)
		c := New(small, loops)
		n := takeAll(c, 0)
		give(c, 0, n)
		for loop := range loops {
			if free := c.shards[loop].free.Load(); free != 0 {
				t.Errorf("limit %d, %d loops: %d in shard %d", small, loops, free, loop)
			}
		}
		if free := c.word.Load(); free != small {
			t.Errorf("limit %d, %d loops: %d in the word", small, loops, free)
		}
	}
}

// A lease says that it left tokens, or the caller would not look for waiters.
func TestLeaseTells(t *testing.T) {
	c := New(1000, 2)
	ok, left := c.Take(0, true)
	if free := c.shards[0].free.Load(); !ok || !left || free == 0 {
		t.Errorf("ok %v, left %v, %d in the shard", ok, left, free)
	}
	if ok, left = c.Take(0, true); !ok || left {
		t.Errorf("from the shard: ok %v, left %v", ok, left)
	}
	c = New(1000, 2)
	if ok, left = c.Take(0, false); !ok || left || c.shards[0].free.Load() != 0 {
		t.Errorf("without lease: ok %v, left %v, %d in the shard", ok, left, c.shards[0].free.Load())
	}
}

// A limit lowered below what is in use leaves a debt, which those who give
// pay off; until then nobody gets a token, from anywhere.
func TestLoweringLeavesADebt(t *testing.T) {
	c := New(1000, 2)
	for range 500 {
		c.Take(0, true)
	}
	set(c, 100)
	if !c.Strict() || c.word.Load() != -400 {
		t.Fatalf("strict %v, word %d", c.Strict(), c.word.Load())
	}
	for use := int64(500); use > 100; use-- {
		expectUse(t, c, use)
		if n := takeAll(c, 0) + takeAll(c, 1); n != 0 {
			t.Fatalf("%d taken with %d in use", n, use)
		}
		c.Give(int(use)%2, false)
	}
	c.Sweep()
	if c.Settle() {
		t.Error("strict after the debt was paid")
	}
	c.Give(0, false)
	if ok, _ := c.Take(0, true); !ok {
		t.Error("none taken with 99 in use")
	}
}

// The debt is announced before it is made, so that whoever gives a token
// afterwards knows that it is wanted.
func TestDebtIsAnnouncedFirst(t *testing.T) {
	c := New(10, 1)
	for range 10 {
		c.Take(0, true)
	}
	c.Set(4)
	announced := false
	c.Apply(func() {
		announced = true
		if !c.Strict() || c.word.Load() != 0 {
			t.Errorf("strict %v, word %d at the announcement", c.Strict(), c.word.Load())
		}
	})
	if !announced {
		t.Error("not announced")
	}
	c.Set(5)
	c.Apply(func() { t.Error("a raise was announced") })
}

// 0 is no limit, in all directions: from and to it, with some in use.
func TestNoLimit(t *testing.T) {
	c := New(0, 2)
	if c.Limited() {
		t.Error("limited by 0")
	}
	for range 1000 {
		if ok, _ := c.Take(1, true); !ok {
			t.Fatal("full")
		}
	}
	for _, limit := range []int64{2000, 0, 10, 0, 1, 5000} {
		set(c, limit)
		expectUse(t, c, 1000)
		if c.Limited() != (limit != 0) || limit != 0 && c.Limit() != limit {
			t.Errorf("limit %d shows as %d", limit, c.Limit())
		}
		ok, _ := c.Take(0, true)
		if want := limit == 0 || limit > 1000; ok != want {
			t.Errorf("limit %d with 1000 in use: taken %v", limit, ok)
		}
		if ok {
			c.Give(0, false)
		}
	}
}

// contest has loops take and give at random, while a home sweeps and moves
// the limit between lo and hi. It counts by itself and never believes the
// counter.
type contest struct {
	*Counter
	lo, hi  int64
	rounds  int
	use     atomic.Int64
	most    atomic.Int64
	running atomic.Int64
}

func (k *contest) loop(i int) {
	defer k.running.Add(-1)
	rnd := rand.New(rand.NewPCG(1, uint64(i)))
	held := int64(0)
	for range k.rounds {
		if rnd.IntN(2) == 0 {
			if k.take(i, rnd) {
				held++
			}
		} else if held > 0 {
			held--
			k.use.Add(-1)
			k.Give(i, rnd.IntN(2) == 0)
		}
	}
	k.use.Add(-held)
	for range held {
		k.Give(i, false)
	}
}

func (k *contest) take(i int, rnd *rand.Rand) bool {
	var ok bool
	if rnd.IntN(4) == 0 {
		ok = k.TakeWord()
	} else {
		ok, _ = k.Take(i, rnd.IntN(2) == 0)
	}
	if !ok {
		return false
	}
	n := k.use.Add(1)
	for most := k.most.Load(); n > most && !k.most.CompareAndSwap(most, n); most = k.most.Load() {
	}
	return true
}

// home sweeps and sets until all loops are done.
func (k *contest) home() {
	rnd := rand.New(rand.NewPCG(2, 2))
	for k.running.Load() > 0 {
		if k.lo != k.hi {
			k.Set(k.lo + rnd.Int64N(k.hi-k.lo+1))
		}
		k.Apply(func() {})
		k.Sweep()
		k.Settle()
		runtime.Gosched()
	}
}

func (k *contest) run(t *testing.T, loops int) {
	t.Helper()
	k.Counter = New(k.hi, loops)
	k.running.Store(int64(loops))
	var wg sync.WaitGroup
	for i := range loops {
		wg.Go(func() { k.loop(i) })
	}
	wg.Go(k.home)
	wg.Wait()
	if most := k.most.Load(); most > k.hi {
		t.Errorf("%d in use of %d", most, k.hi)
	}
	k.Apply(func() {})
	k.Sweep()
	expectUse(t, k.Counter, 0)
	if free, limit := k.word.Load(), k.Limit(); free != limit {
		t.Errorf("%d tokens at the end, limit %d", free, limit)
	}
}

func TestContest(t *testing.T) {
	for _, limits := range [][2]int64{{1, 1}, {3, 3}, {70, 70}, {200, 200}, {1, 3}, {1, 100}, {50, 400}} {
		k := &contest{lo: limits[0], hi: limits[1], rounds: 100_000}
		k.run(t, 4)
	}
}

func BenchmarkTakeGive(b *testing.B) {
	for _, bench := range []struct {
		name  string
		limit int64
	}{{"none", 0}, {"10000", 10_000}, {"1", 1}} {
		b.Run(bench.name, func(b *testing.B) {
			c := New(bench.limit, 8)
			for b.Loop() {
				if ok, _ := c.Take(0, true); ok {
					c.Give(0, false)
				}
			}
		})
	}
}

// A counter's word must not share its cache line with what others only read.
func TestCounterFillsCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(Counter{}); n != 192 {
		t.Errorf("%d bytes", n)
	}
}
