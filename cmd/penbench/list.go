package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"penstock/bench/scenario"
	"penstock/bench/scenarios"
)

// list prints the scenarios, a line each.
func list(_ context.Context, args []string, stdout, stderr io.Writer) error {
	if err := parse(flag.NewFlagSet("list", flag.ContinueOnError), args, stderr); err != nil {
		return err
	}
	all, err := scenarios.All()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\n", s.Name, s.About)
	}
	return t.Flush()
}

// show prints the files of scenarios.
func show(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("show", flag.ContinueOnError)
	names, err := mixed(fs, args, stderr)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return mistake(fs, stderr, fmt.Errorf("a scenario is needed: one of %s", strings.Join(scenarios.Names(), ", ")))
	}
	for _, name := range names {
		_, text, err := read(name)
		if err != nil {
			return mistake(fs, stderr, err)
		}
		fmt.Fprint(stdout, text)
	}
	return nil
}

// read is a scenario's name and text, of one that is built in or of a file.
func read(name string) (base, text string, err error) {
	base, own := strings.CutSuffix(filepath.Base(name), ".bench")
	if !own {
		text, err = scenarios.Text(name)
		return name, text, err
	}
	bytes, err := os.ReadFile(name)
	return base, string(bytes), err
}

// find reads scenarios by name, "all" for every one, or a file of one's own.
func find(names []string, given []scenario.Variable) (found []*scenario.Scenario, err error) {
	if len(names) == 1 && names[0] == "all" {
		names = scenarios.Names()
	}
	for _, name := range names {
		base, text, err := read(name)
		if err != nil {
			return nil, err
		}
		s, err := scenario.Parse(base, text, given...)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}
