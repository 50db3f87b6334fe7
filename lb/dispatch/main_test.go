package dispatch

import (
	"flag"
	"testing"

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

func setUnlessGiven(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		flag.Set(name, value)
	}
}
