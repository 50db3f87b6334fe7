package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// coreConfig is what `penbench core` is asked for.
type coreConfig struct {
	waiting int           // clients that wait all the time
	loops   int           // event loops, a goroutine each while clients are served
	limit   int           // connections that may be open: slots
	steady  time.Duration // how long clients are served and counted
	rules   rules
}

// Ranges of the flags. A loop's table has room for 16.7 million who wait.
const (
	leastWaiting, mostWaiting = 1_000, 10_000_000
	mostCoreLoops             = 64
	mostLimit                 = 100_000
	leastSteady, mostSteady   = 10 * time.Millisecond, 10 * time.Minute
)

// core measures what the queue costs, in this process and without a socket:
// the dispatcher is driven as event loops drive it, with clients that are
// numbers. It prints one line,
//
//	{"figures":{"admissions/s":...,...}}
//
// with what crowd.go measures. It fails if one client is served out of turn,
// or if a count is wrong by one.
func core(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg, err := coreFlags(args, stderr)
	if err != nil {
		return err
	}
	f, err := cfg.measure(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(map[string]figures{"figures": f})
}

// figures are by name, the unit in it.
type figures map[string]float64

// coreFlags reads the flags. Mistakes go to stderr, all of them.
func coreFlags(args []string, stderr io.Writer) (cfg coreConfig, err error) {
	fs := flag.NewFlagSet("core", flag.ContinueOnError)
	fs.IntVar(&cfg.waiting, "waiting", 100_000, "clients that wait all the time")
	fs.IntVar(&cfg.loops, "loops", 1, "event loops, which work at the same time")
	fs.IntVar(&cfg.limit, "limit", 64, "connections that may be open, over all loops")
	fs.DurationVar(&cfg.steady, "for", 2*time.Second, "time to count")
	fs.Var(&cfg.rules, "rules", "`WORDS`, comma separated, of queue-fair and class: how the pool sorts those who wait")
	if err := parse(fs, args, stderr); err != nil {
		return cfg, err
	}
	if err := cfg.validate(); err != nil {
		return cfg, mistake(fs, stderr, err)
	}
	return cfg, nil
}

func (c coreConfig) validate() error {
	return errors.Join(
		within("-waiting", c.waiting, leastWaiting, mostWaiting),
		within("-loops", c.loops, 1, mostCoreLoops),
		within("-limit", c.limit, 1, mostLimit),
		within("-for", c.steady, leastSteady, mostSteady),
	)
}

func within[T int | time.Duration](flag string, value, least, most T) error {
	if value < least || value > most {
		return fmt.Errorf("penbench core: %s %v: must be %v to %v", flag, value, least, most)
	}
	return nil
}

// rules are how the pool sorts its queue; without any the oldest is next.
type rules struct {
	fair    bool // queue-fair: senders take turns
	classes bool // queue-class: an eighth of the senders each
}

type ruleWord struct {
	word string
	of   func(*rules) *bool // what it sets
}

var ruleWords = []ruleWord{
	{"queue-fair", func(r *rules) *bool { return &r.fair }},
	{"class", func(r *rules) *bool { return &r.classes }},
}

func (r *rules) String() string {
	var on []string
	for _, w := range ruleWords {
		if *w.of(r) {
			on = append(on, w.word)
		}
	}
	return strings.Join(on, ",")
}

// Set reads the flag's value. (CoDel is not among the words: it keeps a queue
// short, and here it is to stay long.)
func (r *rules) Set(text string) error {
	*r = rules{}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		i := slices.IndexFunc(ruleWords, func(w ruleWord) bool { return w.word == word })
		if i < 0 {
			return fmt.Errorf("%q: must be queue-fair, class, both, or nothing", word)
		}
		*ruleWords[i].of(r) = true
	}
	return nil
}
