package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"penstock/bench/tally"
)

// sums add up what clients and servers printed that were run by hand at the same
// time, on one host or several. They are exact: counts and histograms are added.
type sums struct {
	clients, servers int
	client           tally.Client
	server           tally.Server
	shortest         float64 // of the clients' measured times
}

// add reads a file of lines of JSON. It says false if it is none, but something
// else, as what `penbench run` writes.
func (s *sums) add(path string) (is bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	before := s.clients + s.servers
	lines := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var line json.RawMessage
		err := lines.Decode(&line)
		if err == io.EOF && n > 1 {
			break
		}
		if err == nil {
			err = s.line(line)
		}
		switch {
		case n == 1 && (line == nil || errors.Is(err, errForeign)):
			return false, nil
		case err != nil:
			return true, fmt.Errorf("%s: value %d: %w", path, n, err)
		}
	}
	if s.clients+s.servers == before {
		return true, fmt.Errorf("%s: no client's or server's figures in it: they come last, when it ends", path)
	}
	return true, nil
}

var errForeign = errors.New("not what penbench client or server prints")

// line adds one; those before the last have nothing to add.
func (s *sums) line(text json.RawMessage) error {
	var has map[string]json.RawMessage
	if json.Unmarshal(text, &has) != nil {
		return errForeign
	}
	switch {
	case has["outcomes"] != nil && has["seconds"] != nil:
		return s.addClient(text)
	case has["members"] != nil && has["order"] != nil:
		return s.addServer(text)
	case has["ready"] != nil, has["standing"] != nil, has["counting"] != nil, has["listening"] != nil, has["accepted"] != nil:
		return nil
	}
	return errForeign
}

func (s *sums) addClient(text json.RawMessage) error {
	var c tally.Client
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	if err := steps(c.Open); err != nil {
		return err
	}
	if s.clients == 0 || c.Seconds < s.shortest {
		s.shortest = c.Seconds
	}
	c.Open = c.Open.Since(s.client.Open)
	s.client.Add(&c)
	if s.clients++; s.clients == 1 {
		s.client.Watched = c.Watched
	} else {
		s.client.Watched = nil // see tally.Client.Add
	}
	return nil
}

func (s *sums) addServer(text json.RawMessage) error {
	var v tally.Server
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if err := steps(v.Open); err != nil {
		return err
	}
	v.Open = v.Open.Since(s.server.Open)
	s.server.Add(&v)
	s.servers++
	return nil
}

// steps refuses a series that can't be added to others.
func steps(s tally.Series) error {
	if len(s.Values) > 0 && s.Every != tally.SampleEvery {
		return fmt.Errorf("a series every %d ns, not every %d", s.Every, tally.SampleEvery)
	}
	return nil
}

// print writes what there is.
func (s *sums) print(w io.Writer) error {
	if s.clients > 0 {
		if err := part(w, s.clients, "client", &s.client); err != nil {
			return err
		}
	}
	if s.shortest < 0.95*s.client.Seconds {
		fmt.Fprintf(w, "  the clients measured %.2f s to %.2f s: what is a second is of the longest\n", s.shortest, s.client.Seconds)
	}
	if s.clients > 0 && s.servers > 0 {
		fmt.Fprintln(w)
	}
	if s.servers > 0 {
		return part(w, s.servers, "server", &s.server)
	}
	return nil
}

func part(w io.Writer, n int, what string, said tally.Said) error {
	if n > 1 {
		if _, err := fmt.Fprintf(w, "%d %ss together:\n", n, what); err != nil {
			return err
		}
	}
	return tally.Say(w, true, said)
}
