package main

import "iter"

// workers bounds what runs at a time, for the memory more than for the cores.
const workers = 2

// task is one exploration: the scenarios are tried in turn until one breaks.
type task struct {
	in    []*scenario
	fault fault
}

func (k task) run() report {
	var r report
	for _, sc := range k.in {
		if r = explore(sc, k.fault); r.broken != "" {
			break
		}
	}
	return r
}

// exploreAll runs the tasks, a few at a time, and yields what they report in
// their own order.
func exploreAll(tasks []task) iter.Seq[report] {
	return func(yield func(report) bool) {
		results := make([]chan report, len(tasks))
		for i := range results {
			results[i] = make(chan report, 1)
		}
		next := make(chan int, len(tasks))
		for i := range tasks {
			next <- i
		}
		close(next)
		for range workers {
			go func() {
				for i := range next {
					results[i] <- tasks[i].run()
				}
			}()
		}
		for _, result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}
