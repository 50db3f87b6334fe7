package ctl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// request is a command that has been understood.
type request func(*session) error

// command is one of those that ctl knows.
type command struct {
	name  string
	forms []string // how it is used, without its name
	help  string
	parse func(words []string) (request, error)
}

var commands = []command{
	{"show", []string{
		"[all]", "virtuals|pools|members|nodes [NAME]",
		"waiters [pool=NAME] [FILTER] [skip=N] [limit=N]", "tap",
	}, "Shows numbers and states. NAME is as in the other commands.\n" + filterHelp, parseShow},
	{"set", []string{
		"pool|virtual NAME KEY=VALUE...", "member POOL/ADDRESS KEY=VALUE...", "node ADDRESS KEY=VALUE...",
	}, "Changes an object while it runs, with the keys of its flag (penstock -h).\n" +
		"All keys are changed or, if one is wrong, none is.", parseSet},
	{"add", []string{"member POOL/ADDRESS [KEY=VALUE...]"},
		"Adds a server to a pool, with the keys of -member.", parseAdd},
	{"delete", []string{"member POOL/ADDRESS [now]"},
		"Takes a server out of a pool. What is connected to it goes on until it\nends by itself; with now it is cut.", parseDelete},
	stateCommand("enable", "enabled", "Lets a server take connections."),
	stateCommand("disable", "disabled", "Lets a server take only clients that are persisted to it."),
	stateCommand("offline", "offline", "Lets a server take no new connection. What is connected goes on."),
	poolCommand("pause", "Makes all clients of a pool wait: nobody is sent to a server until resume."),
	poolCommand("resume", "Ends a pause."),
	{"flush", []string{"pool NAME [FILTER]"},
		"Refuses those who wait in a pool: all, or those to whom the filter applies.\n" + filterHelp, parseFlush},
}

const filterHelp = `FILTER is any of: client=ADDRESS or client=PREFIX/BITS, older=TIME,
queue=pool|member, virtual=NAME.`

func commandNames() (names []string) {
	for _, c := range commands {
		names = append(names, c.name)
	}
	return append(names, "help")
}

// kinds of objects: how one of them is named, and the folder of all of them.
var kinds = map[string]string{
	"virtual": "virtuals", "pool": "pools", "member": "members", "node": "nodes",
}

// path is where an object lies in the interface.
func path(kind, name string) (string, error) {
	p := "/v1/" + kinds[kind] + "/"
	if kind != "member" {
		return p + url.PathEscape(name), nil
	}
	pool, address, ok := strings.Cut(name, "/")
	if !ok || pool == "" || address == "" {
		return "", misused("member %q: allowed is POOL/ADDRESS, such as app/10.0.0.1:80", name)
	}
	return p + url.PathEscape(pool) + "/" + url.PathEscape(address), nil
}

// target reads a kind of object and its name, and returns what is behind
// them.
func target(words []string, allowed ...string) (where string, rest []string, err error) {
	if len(words) == 0 || !slices.Contains(allowed, words[0]) {
		return "", nil, misused("%s: allowed is %s", first(words), strings.Join(allowed, "|"))
	}
	if len(words) == 1 {
		return "", nil, misused("%s: its name is missing", words[0])
	}
	where, err = path(words[0], words[1])
	return where, words[2:], err
}

func first(words []string) string {
	if len(words) == 0 {
		return "an object is missing"
	}
	return words[0]
}

// keyValues reads KEY=VALUE words.
func keyValues(words []string) (map[string]string, error) {
	all := map[string]string{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, misused("%q: allowed is KEY=VALUE", w)
		}
		if _, twice := all[key]; twice {
			return nil, misused("%q: key given twice; allowed is once", w)
		}
		all[key] = value
	}
	return all, nil
}

func parseSet(words []string) (request, error) {
	where, rest, err := target(words, "pool", "virtual", "member", "node")
	if err != nil {
		return nil, err
	}
	keys, err := keyValues(rest)
	if err == nil && len(keys) == 0 {
		err = misused("nothing to set; allowed is KEY=VALUE")
	}
	return change(http.MethodPatch, words[0], where, keys), err
}

// change makes a request that changes an object, and shows how it is then.
func change(method, kind, where string, keys map[string]string) request {
	return func(s *session) error { return s.say(method, where, keys, shows[kind].row) }
}

func parseAdd(words []string) (request, error) {
	_, rest, err := target(words, "member")
	if err != nil {
		return nil, err
	}
	keys, err := keyValues(rest)
	if err != nil {
		return nil, err
	}
	pool, address, _ := strings.Cut(words[1], "/")
	keys["pool"], keys["address"] = pool, address
	return change(http.MethodPost, "member", "/v1/members", keys), nil
}

func parseDelete(words []string) (request, error) {
	where, rest, err := target(words, "member")
	switch {
	case err != nil:
		return nil, err
	case len(rest) == 1 && rest[0] == "now":
		where += "?now=true"
	case len(rest) > 0:
		return nil, misused("%q: allowed is now", rest[0])
	}
	return func(s *session) error { return s.say(http.MethodDelete, where, nil, deleted) }, nil
}

func deleted(b []byte) (string, error) {
	var said struct {
		Deleted     string
		Connections int64
	}
	err := json.Unmarshal(b, &said)
	if said.Connections > 0 {
		return fmt.Sprintf("%s: deleted; connections that go on: %d\n", clean(said.Deleted), said.Connections), err
	}
	return clean(said.Deleted) + ": deleted\n", err
}

func stateCommand(name, state, help string) command {
	return command{name, []string{"member POOL/ADDRESS", "node ADDRESS"}, help, func(words []string) (request, error) {
		where, err := alone(words, "member", "node")
		if err != nil {
			return nil, err
		}
		return change(http.MethodPatch, words[0], where, map[string]string{"state": state}), nil
	}}
}

func poolCommand(name, help string) command {
	return command{name, []string{"pool NAME"}, help, func(words []string) (request, error) {
		where, err := alone(words, "pool")
		return change(http.MethodPost, "pool", where+"/"+name, nil), err
	}}
}

// alone is a target with nothing behind it.
func alone(words []string, allowed ...string) (where string, err error) {
	where, rest, err := target(words, allowed...)
	if err == nil && len(rest) > 0 {
		err = misused("%q: allowed is nothing behind the name", rest[0])
	}
	return where, err
}

func parseFlush(words []string) (request, error) {
	where, rest, err := target(words, "pool")
	if err != nil {
		return nil, err
	}
	filter, err := keyValues(rest)
	return func(s *session) error {
		return s.say(http.MethodPost, where+"/flush", filter, func(b []byte) (string, error) {
			var said struct{ Flushed int64 }
			err := json.Unmarshal(b, &said)
			return fmt.Sprintf("refused: %d\n", said.Flushed), err
		})
	}, err
}
