package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

// options says what to run; the zero value is everything.
type options struct {
	only   string // scenarios and faults whose name has this in it
	traces bool   // print how each seeded fault was caught
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.StringVar(&o.only, "only", "", "run only scenarios and faults whose name contains `text`")
	flags.BoolVar(&o.traces, "traces", false, "print the trace that caught each seeded fault")
	return o, flags.Parse(args)
}

// run explores every scenario, then puts every fault in. It returns 1 if the
// protocol is broken, or if a fault goes unseen.
func run(args []string, w io.Writer) int {
	o, err := parse(args, w)
	if err != nil {
		return 2
	}
	began := time.Now()
	sound := printScenarios(w, o)
	caught := printFaults(w, o)
	fmt.Fprintf(w, "\n%.1f s\n", time.Since(began).Seconds())
	if sound && caught {
		return 0
	}
	return 1
}

func printScenarios(w io.Writer, o options) bool {
	var tasks []task
	for _, sc := range scenarios {
		if strings.Contains(sc.name, o.only) {
			tasks = append(tasks, task{[]*scenario{sc}, noFault})
		}
	}
	sound := true
	fmt.Fprintf(w, "%-15s %10s %11s %6s %7s\n", "scenario", "states", "transitions", "depth", "time")
	for r := range exploreAll(tasks) {
		fmt.Fprintf(w, "%-15s %10d %11d %6d %6.1fs  %s\n", r.sc.name, r.states, r.moves, r.depth, r.took.Seconds(), r.sc.about)
		if r.broken != "" {
			sound = false
			printTrace(w, r)
		}
	}
	return sound
}

func printFaults(w io.Writer, o options) bool {
	var tasks []task
	for f := noFault + 1; f < faults; f++ {
		if strings.Contains(f.String(), o.only) {
			tasks = append(tasks, task{named(seeds[f].in), f})
		}
	}
	caught := true
	fmt.Fprintf(w, "\n%-15s %10s %6s  %s\n", "caught in", "states", "steps", "seeded fault: what broke")
	for r := range exploreAll(tasks) {
		if r.broken == "" {
			caught = false
			fmt.Fprintf(w, "%-15s %10d %6s  %s\n", "NOT CAUGHT", r.states, "", r.fault)
			continue
		}
		fmt.Fprintf(w, "%-15s %10d %6d  %s: %s\n", r.sc.name, r.states, len(r.trace), r.fault, r.broken)
		if o.traces {
			printTrace(w, r)
		}
	}
	return caught
}

// named finds scenarios by name.
func named(names []string) []*scenario {
	var found []*scenario
	for _, name := range names {
		for _, sc := range scenarios {
			if sc.name == name {
				found = append(found, sc)
			}
		}
	}
	return found
}
