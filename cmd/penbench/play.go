package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"penstock/bench/peer"
	"penstock/bench/report"
	"penstock/bench/result"
	"penstock/bench/run"
	"penstock/bench/scenario"
	"penstock/bench/scenarios"
	"penstock/bench/stage"
	"penstock/bench/term"
)

// playing is what `penbench run` is asked for.
type playing struct {
	proxies    string
	rounds     int
	length     time.Duration
	name       string // of the only case
	set        []scenario.Variable
	once       bool
	dir        string
	json, html string
	paths      peer.Paths
	congestion string

	program string   // what was called
	names   []string // of scenarios, as they were given
	words   []string // the flags that repeat the run
}

func (p *playing) bind(fs *flag.FlagSet) {
	fs.StringVar(&p.proxies, "proxy", "", "`NAMES`, comma separated, of "+strings.Join(peer.Names(), ", ")+"; the first is compared with the others (default: the scenario's)")
	fs.IntVar(&p.rounds, "rounds", 0, "rounds of each proxy (default: the scenario's)")
	fs.DurationVar(&p.length, "for", 0, "time that a round is measured (default: the scenario's)")
	fs.StringVar(&p.name, "case", "", "the only case to play (default: all)")
	fs.Func("set", "`VARIABLE=VALUE`, over what the scenario says; several times for several", p.setVariable)
	fs.BoolVar(&p.once, "once", false, "see that it works: one short round with few clients, and penstock alone unless there is -proxy")
	fs.StringVar(&p.dir, "out", "bench/out", "`DIRECTORY` for SCENARIO.json and SCENARIO.html")
	fs.StringVar(&p.json, "o", "", "`FILE` for the figures of every round, in place of SCENARIO.json")
	fs.StringVar(&p.html, "html", "", "`FILE` for the page, in place of SCENARIO.html")
	fs.StringVar(&p.paths.Penstock, "penstock", besides("penstock"), "`path` of penstock")
	fs.StringVar(&p.paths.HAProxy, "haproxy", "haproxy", "`path` of HAProxy")
	fs.StringVar(&p.paths.Nginx, "nginx", "nginx", "`path` of nginx")
	fs.StringVar(&p.congestion, "congestion", "cubic", "congestion control, as root; empty: the machine's")
}

func (p *playing) setVariable(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return errors.New("must be VARIABLE=VALUE")
	}
	p.set = append(p.set, scenario.Variable{Name: name, Value: value})
	return nil
}

// besides is the path of a program in this one's folder, else its name.
func besides(name string) string {
	own, err := os.Executable()
	if path := filepath.Join(filepath.Dir(own), name); err == nil && exists(path) {
		return path
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// play runs scenarios and prints what they come to. It fails if a proxy failed,
// or if penstock did what must not happen.
func play(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := new(playing)
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	p.bind(fs)
	names, err := mixed(fs, args, stderr)
	if err != nil {
		return err
	}
	p.program, p.names, p.words = quoted(os.Args[0]), names, p.flags(fs)
	chosen, err := p.choose(names)
	if err != nil {
		return mistake(fs, stderr, err)
	}
	place, err := stage.Open(p.congestion)
	if errors.Is(err, stage.ErrCongestion) {
		return mistake(fs, stderr, fmt.Errorf("-congestion: %w", err))
	} else if err != nil {
		return err
	}
	defer place.Close()
	if chosen, err = p.possible(chosen, place, stderr); err != nil {
		return err
	}
	plan, err := p.plan(chosen, place, stderr)
	if err != nil {
		return err
	}
	return p.perform(ctx, plan, stdout)
}

// possible leaves out what needs a network device between clients and proxy, if
// there can be none, and was not asked for by name.
func (p *playing) possible(chosen []*scenario.Scenario, place *stage.Stage, stderr io.Writer) (left []*scenario.Scenario, err error) {
	missing := place.Links()
	for _, s := range chosen {
		switch {
		case missing == nil || !linked(s):
			left = append(left, s)
		case p.names[0] != "all":
			return nil, fmt.Errorf("%s: %w", s.Name, missing)
		default:
			fmt.Fprintf(stderr, "penbench run: %v: %s is left out\n", missing, s.Name)
		}
	}
	return left, nil
}

// linked says that a scenario needs such a device, for itself or its program.
func linked(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Cases, func(c scenario.Case) bool {
		return c.Link || len(c.Program) > 0 && c.Program[0] == "syn"
	})
}

// plan is what is to be run, in order.
func (p *playing) plan(chosen []*scenario.Scenario, place *stage.Stage, stderr io.Writer) (plan []run.Options, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for i, s := range chosen {
		peers, err := p.peers(s, stderr)
		if err != nil {
			return nil, err
		}
		o := run.Options{
			Scenario: s, Peers: peers, Rounds: p.rounds, For: p.length, Case: p.name, Once: p.once,
			Stage: place, Penbench: []string{own}, Command: p.command(i, s.Name),
		}
		if term.Is(stderr) {
			o.Progress = stderr
		}
		for i := range plan {
			plan[i].Later += o.Length()
		}
		plan = append(plan, o)
	}
	return plan, nil
}

// perform runs and prints one after the other.
func (p *playing) perform(ctx context.Context, plan []run.Options, stdout io.Writer) error {
	well := true
	for _, o := range plan {
		doc, err := run.Run(ctx, o)
		if err != nil {
			return err
		}
		well = well && wellDone(doc)
		if err := p.publish(doc, stdout); err != nil {
			return err
		}
	}
	if !well {
		return errFailed
	}
	return nil
}

// choose finds the scenarios and refuses what can't be for all of them.
func (p *playing) choose(names []string) ([]*scenario.Scenario, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("a scenario is needed: all, or of %s", strings.Join(scenarios.Names(), ", "))
	}
	chosen, err := find(names, p.set)
	if err != nil {
		return nil, err
	}
	if len(chosen) > 1 && p.json+p.html != "" {
		return nil, errors.New("-o and -html are for one scenario; -out is for several")
	}
	if p.rounds < 0 || p.length < 0 {
		return nil, fmt.Errorf("-rounds %d, -for %v: must not be negative", p.rounds, p.length)
	}
	for _, s := range chosen {
		if names := caseNames(s); p.name != "" && len(s.Cases) == 1 {
			return nil, fmt.Errorf("-case %q: %s has no cases", p.name, s.Name)
		} else if p.name != "" && !slices.Contains(names, p.name) {
			return nil, fmt.Errorf("-case %q: %s has %q", p.name, s.Name, names)
		}
		if _, err := p.peers(s, io.Discard); err != nil {
			return nil, err
		}
	}
	return chosen, p.writable(chosen)
}

// command repeats the run of one scenario, the i-th of those chosen.
func (p *playing) command(i int, name string) string {
	if p.names[0] != "all" {
		name = quoted(p.names[i]) // may be a path
	}
	return strings.Join(append([]string{p.program, "run", name}, p.words...), " ")
}

// flags are those that were given and decide what is run, as a shell reads them.
func (p *playing) flags(fs *flag.FlagSet) (words []string) {
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "out", "o", "html", "set":
		case "once":
			words = append(words, "-once")
		default:
			words = append(words, "-"+f.Name, quoted(f.Value.String()))
		}
	})
	for _, v := range p.set {
		words = append(words, "-set", quoted(v.Name+"="+v.Value))
	}
	return words
}

// quoted is a word that a shell takes for this one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+%@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func caseNames(s *scenario.Scenario) (names []string) {
	for _, c := range s.Cases {
		names = append(names, c.Name)
	}
	return names
}

// peers are those asked for, or the scenario's; of these a rival that is not
// installed is left out, which stderr is told.
func (p *playing) peers(s *scenario.Scenario, stderr io.Writer) (peers []peer.Peer, err error) {
	names, asked := s.Proxies, p.proxies != "" && len(s.Proxies) > 0
	switch {
	case asked:
		names = strings.Split(p.proxies, ",")
	case p.once, len(names) == 0:
		names = []string{result.Subject}
	}
	for _, name := range names {
		found, err := peer.Find(name, p.paths)
		if errors.Is(err, peer.ErrMissing) && !asked && name != result.Subject {
			fmt.Fprintf(stderr, "penbench run: %v: left out of %s\n", err, s.Name)
			continue
		}
		if err != nil {
			return nil, err
		}
		peers = append(peers, found)
	}
	return peers, nil
}

// wellDone says that nobody failed and that penstock did nothing that must not
// happen. What its rivals do is theirs.
func wellDone(d *result.Document) bool {
	for _, c := range d.Cases {
		for _, p := range c.Peers {
			if p.Failure != "" || p.Name == result.Subject && !p.Verdict().Well() {
				return false
			}
		}
	}
	return true
}

// files are where the figures and the page of a scenario go.
func (p *playing) files(name string) (file, page string) {
	if file = p.json; file == "" {
		file = filepath.Join(p.dir, name+".json")
	}
	if page = p.html; page == "" {
		page = filepath.Join(p.dir, name+".html")
	}
	return file, page
}

// writable finds out before all the work whether it can be kept.
func (p *playing) writable(chosen []*scenario.Scenario) error {
	seen := map[string]bool{}
	for _, s := range chosen {
		file, page := p.files(s.Name)
		for _, path := range []string{file, page} {
			if seen[filepath.Clean(path)] {
				return fmt.Errorf("-o, -html, -out: %s would be written twice", path)
			}
			seen[filepath.Clean(path)] = true
			if err := touch(path); err != nil {
				return fmt.Errorf("-o, -html, -out: must be where files can be written: %w", err)
			}
		}
	}
	return nil
}

// touch opens a file as if to write it, and leaves it as it was.
func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	there := exists(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil || there {
		f.Close()
		return err
	}
	return errors.Join(f.Close(), os.Remove(path))
}

// publish writes the document and its page, and prints its table and where the
// page is.
func (p *playing) publish(d *result.Document, stdout io.Writer) error {
	file, page := p.files(d.Scenario)
	if err := d.Write(file); err != nil {
		return err
	}
	if err := report.Page(page, d); err != nil {
		return err
	}
	if err := report.Text(stdout, d); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\n%s\n", page)
	return err
}
