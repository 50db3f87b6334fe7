package dispatch

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// What each rule costs that can be switched on.

// from lets a client in from an address.
func (c *counted) from(loop int, v VirtualID, conn uint32, s Source) Verdict {
	c.now++
	return c.Loop(loop).Arrive(c.now, v, conn, Attempt{Since: c.now, Source: s})
}

func TestStructSizes(t *testing.T) {
	for what, size := range map[string][2]uintptr{
		"Attempt": {unsafe.Sizeof(Attempt{}), 40}, // part of each record of the front end
		"address": {unsafe.Sizeof(address{}), 16},
		"Path":    {unsafe.Sizeof(Path{}), 6},
	} {
		if size[0] > size[1] {
			t.Errorf("%s has %d bytes, more than %d", what, size[0], size[1])
		}
	}
}

// rules are topologies with a rule on, for a pool of ten members.
var ruleSets = map[string]string{
	"plain":             "pool p\nvirtual v",
	"persist":           "pool p\nvirtual v persist=32/128",
	"persist-wait":      "pool p persist-wait=1s\nvirtual v persist=32/128",
	"ratio":             "pool p mode=ratio\nvirtual v",
	"least-connections": "pool p mode=least-connections\nvirtual v",
	"source-hash":       "pool p mode=source-hash\nvirtual v",
	"priority groups":   "pool p min-active=5\nvirtual v",
	"classes":           "pool p class-age=1s\nvirtual v class=3 class-from=10.0.0.0/9:7",
	"fair":              "pool p fair=32/64\nvirtual v",
	"codel":             "pool p codel=on\nvirtual v",
	"refuse-early":      "pool p refuse-early=on queue-time=1h\nvirtual v",
	"slow ramp":         "pool p slow-ramp=10s\nvirtual v",
}

func ruled(loops int, rule string, members, limit int) *counted {
	text := strings.Builder{}
	text.WriteString(ruleSets[rule] + "\n")
	for i := range members {
		fmt.Fprintf(&text, "member m%d limit=%d ratio=%d priority=%d\n", i, limit, 1+i%3, i%2)
	}
	return newCounted(loops, text.String())
}

// Once there are the queues that a pool needs, and the records, nobody who comes
// costs memory, whatever the rules. (A waiter that some members have refused is
// one of a queue of its kind, and so are those of a class, a sender or a member.
// 64 queues that are empty are kept for the next of another kind; beyond that a
// kind that is new costs an allocation.)
func TestSteadyStateOfEachRule(t *testing.T) {
	for rule := range ruleSets {
		t.Run(rule, func(t *testing.T) {
			c := ruled(2, rule, 10, 0)
			i := 0
			expectNoAllocs(t, "Arrive and Release", func() {
				i++
				c.Loop(0).Release(c.now, c.from(0, 0, 1, sender(i%200)).Path)
			})
			c = ruled(2, rule, 1, 1)
			path := c.from(0, 0, 0, sender(0)).Path
			for k := range 10 {
				c.from(1, 0, 1, sender(k*20))
			}
			expectNoAllocs(t, "wait, grant, Next and Release", func() {
				i++
				c.from(1, 0, 1, sender(i%200))
				c.Loop(0).Release(c.now, path)
				o, ok := c.next(1)
				for ; ok && o.Reason != NotRefused; o, ok = c.next(1) {
				}
				if !ok {
					t.Fatal("nobody was served")
				}
				path = o.Path
			})
		})
	}
}

func BenchmarkArriveReleaseRules(b *testing.B) {
	for _, rule := range []string{"plain", "persist", "ratio", "least-connections", "source-hash", "priority groups", "classes", "fair"} {
		for _, members := range []int{10, 100} {
			for _, loops := range []int{1, runtime.GOMAXPROCS(0)} {
				b.Run(fmt.Sprintf("%s/members=%d/loops=%d", rule, members, loops), func(b *testing.B) {
					c := ruled(loops, rule, members, 0)
					if rule == "persist" { // a million records
						for i := range crowd {
							c.Loop(0).Release(c.now, c.from(0, 0, 1, sender(i)).Path)
						}
					}
					var wg sync.WaitGroup
					b.ReportAllocs()
					b.ResetTimer()
					for i := range loops {
						wg.Go(func() { arriveReleaseFrom(c.Loop(i), c.now, b.N/loops) })
					}
					wg.Wait()
				})
			}
		}
	}
}

// arriveReleaseFrom has clients of a million addresses come and go.
func arriveReleaseFrom(l *Loop, now Tick, n int) {
	for i := range n {
		now++
		v := l.Arrive(now, 0, 1, Attempt{Since: now, Source: sender(i * 7919 % crowd)})
		if v.Kind == Proceed {
			l.Release(now, v.Path)
		}
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			l.Release(now, o.Path)
		}
	}
}

// 400,000 wait, sorted by rules, then all slots are there at once.
func BenchmarkAdmissionsRules(b *testing.B) {
	const n = 400_000
	for _, rule := range []string{"classes", "fair", "persist"} {
		b.Run(rule, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := ruled(1, rule, 1, 1)
				c.from(0, 0, 0, sender(0))
				for i := range n {
					c.from(0, 0, uint32(i), sender(i%100<<10))
					c.settle(0)
				}
				b.StartTimer()
				c.Loop(0).SetMemberLimit(c.now, 0, 0)
				for served := 0; served < n; served++ {
					if _, ok := c.next(0); !ok {
						b.Fatalf("%d of %d served", served, n)
					}
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "admissions/s")
		})
	}
}
