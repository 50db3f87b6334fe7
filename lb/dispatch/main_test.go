package dispatch

import (
	"flag"
	"iter"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	long     = flag.Bool("long", false, "run the tests that take minutes")
	handoffs = flag.Int64("handoffs", 300_000, "hand-offs in each stress test")
)

func TestMain(m *testing.M) {
	flag.Parse()
	setUnlessGiven("rapid.nofailfile", "true") // testdata is for scripts; the seed is printed
	if *long {
		// Random machines: many, and longer ones.
		setUnlessGiven("rapid.checks", "20000")
		setUnlessGiven("rapid.steps", "100")
	} else {
		setUnlessGiven("rapid.checks", "1000")
		setUnlessGiven("rapid.steps", "60")
	}
	goleak.VerifyTestMain(m)
}

// ample is how long a test of a race goes on. Threads that wait for each other
// spin: while somebody else has the processors a round takes a hundred times as
// long as usual.
const ample = 4 * time.Second

// measured says that somebody said how much is to be done, however long it takes.
func measured() (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == "handoffs" || f.Name == "long" })
	return is
}

// some are n rounds of a race, or as many of them as there is time for, and at
// least a hundredth.
func some(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		all, end := measured(), time.Now().Add(ample)
		for i := 0; i < n && (all || i <= n/100 || time.Now().Before(end)); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

func setUnlessGiven(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		flag.Set(name, value)
	}
}
