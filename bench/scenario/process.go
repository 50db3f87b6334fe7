package scenario

import (
	"slices"
	"strconv"
	"strings"

	"penstock/bench/reflect"
	"penstock/bench/syn"
)

// mostCount is of processes that do the same.
const mostCount = 1000

// head cuts the words before the first flag off.
func head(list []string) (before, flags []string) {
	at := slices.IndexFunc(list, func(w string) bool { return strings.HasPrefix(w, "-") })
	if at < 0 {
		at = len(list)
	}
	return list[:at], list[at:]
}

// server reads "[NAME] FLAGS".
func (r *reading) server(value string) error { return r.serve("server", value, Server{}) }

// reflector reads the same.
func (r *reading) reflector(value string) error {
	return r.serve("reflect", value, Server{Reflect: new(reflect.Config)})
}

// serve takes a server, of a command of penbench.
func (r *reading) serve(command, value string, s Server) error {
	list, err := words(value)
	if err != nil {
		return err
	}
	before, flags := head(list)
	s.Args = flags
	if len(before) > 1 {
		return wrongf(before[1], "must be a flag of penbench %s: only one name may come before", command)
	}
	if len(before) == 1 {
		s.Name = before[0]
	}
	if slices.ContainsFunc(r.c.Servers, func(o Server) bool { return o.Name == s.Name && s.Name != "" }) {
		return wrong(s.Name, "is a server already")
	}
	if err := named(s.Name); err != nil {
		return err
	}
	if err := s.bind(); err != nil {
		return err
	}
	r.c.Servers = append(r.c.Servers, s)
	return nil
}

// client reads "[NAME] [xN] FLAGS".
func (r *reading) client(value string) error {
	list, err := words(value)
	if err != nil {
		return err
	}
	before, flags := head(list)
	c := Client{Count: 1, Args: flags}
	if n := len(before); n > 0 && times(before[n-1]) {
		if err := number(&c.Count, before[n-1][1:], 1, mostCount); err != nil {
			return wrongf(before[n-1], "must be x and a number from 1 to %d", mostCount)
		}
		before = before[:n-1]
	}
	if len(before) > 1 {
		return wrong(before[1], "must be a flag of penbench client: only a name and xN may come before")
	}
	if len(before) == 1 {
		c.Name = before[0]
	}
	return r.add(c)
}

// add takes a client whose flags are still to be read.
func (r *reading) add(c Client) error {
	if slices.ContainsFunc(r.c.Clients, func(o Client) bool { return o.Name == c.Name && c.Name != "" }) {
		return wrong(c.Name, "is a client already")
	}
	if err := named(c.Name); err != nil {
		return err
	}
	if err := c.bind(); err != nil {
		return err
	}
	r.c.Clients = append(r.c.Clients, c)
	return nil
}

// generator reads "[NAME] FLAGS".
func (r *reading) generator(value string) error {
	list, err := words(value)
	if err != nil {
		return err
	}
	before, flags := head(list)
	if len(before) > 1 {
		return wrong(before[1], "must be a flag of penbench syn: only one name may come before")
	}
	c := Client{Count: 1, Args: flags, Syn: new(syn.Config)}
	if len(before) == 1 {
		c.Name = before[0]
	}
	return r.add(c)
}

// times says that a word is such as x4.
func times(word string) bool {
	digits, is := strings.CutPrefix(word, "x")
	_, err := strconv.ParseUint(digits, 10, 64)
	return is && err == nil
}

func named(s string) error {
	if s != "" && !name.MatchString(s) {
		return wrong(s, "is a name, which "+nameForm)
	}
	return nil
}

// command reads the arguments of penbench that print figures.
func (r *reading) command(value string) error {
	list, err := words(value)
	if err != nil {
		return err
	}
	if len(list) == 0 || strings.HasPrefix(list[0], "-") {
		return wrong(value, "must be a command of penbench, and its flags")
	}
	r.c.Program = list
	return nil
}
