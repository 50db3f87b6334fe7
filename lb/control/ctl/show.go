package ctl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// shown is how objects of a kind are shown, from what the proxy said of them.
type shown struct {
	row    func([]byte) (string, error) // one, briefly
	detail func([]byte) (string, error) // one, with all there is
	list   func([]byte) (string, error)
}

// kindOrder is how "show all" goes through them.
var kindOrder = []string{"virtual", "pool", "member", "node"}

var shows = map[string]shown{
	"virtual": show("virtuals", virtualColumns, func(v *virtual) string {
		return facts(v.outcomes.list()) + facts(v.Settings)
	}),
	"pool": show("pools", poolColumns, func(p *pool) string {
		return render(memberColumns, p.Members) + "\n" + facts(p.outcomes.list()) + facts(p.Settings)
	}),
	"member": show("members", memberColumns, func(m *member) string { return facts(m.Settings) }),
	"node":   show("nodes", nodeColumns, func(n *node) string { return facts(n.Settings) }),
	"tap":    show("", tapColumns, tapDetail),
}

func tapDetail(t *tapFront) string {
	s := facts(t.list()) + "\n" + facts(t.Settings)
	if t.Servers != nil {
		s += "\n" + render(serverLinkColumns, []serverLink{*t.Servers}) + "\n" + facts(t.Servers.Settings)
	}
	return s
}

func show[T any](folder string, columns []column[T], more func(*T) string) shown {
	return shown{
		row: func(b []byte) (string, error) {
			var t T
			err := json.Unmarshal(b, &t)
			return render(columns, []T{t}), err
		},
		detail: func(b []byte) (string, error) {
			var t T
			err := json.Unmarshal(b, &t)
			return render(columns, []T{t}) + "\n" + more(&t), err
		},
		list: func(b []byte) (string, error) {
			var all map[string][]T
			err := json.Unmarshal(b, &all)
			return render(columns, all[folder]), err
		},
	}
}

// facts shows keys and values, one a line.
func facts(list settings) string {
	lines := make([][]string, len(list))
	for i, s := range list {
		lines[i] = []string{clean(s.Key), clean(s.Value)}
	}
	return align(lines, []bool{true, true})
}

// parseShow takes "virtual" for "virtuals", and so on.
func parseShow(words []string) (request, error) {
	if len(words) == 0 || words[0] == "all" {
		if len(words) > 1 {
			return nil, misused("%q: allowed is nothing behind all", words[1])
		}
		return showAll, nil
	}
	kind := strings.TrimSuffix(words[0], "s")
	if kind == "tap" {
		if len(words) > 1 {
			return nil, misused("%q: allowed is nothing behind tap", words[1])
		}
		return one(kind, tapPath), nil
	}
	if kind == "waiter" {
		filter, err := keyValues(words[1:])
		return showWaiters(filter), err
	}
	if _, ok := kinds[kind]; !ok {
		return nil, misused("%q: allowed is virtuals|pools|members|nodes|waiters|tap|all", words[0])
	}
	switch len(words) {
	case 1:
		return list(kind), nil
	case 2:
		where, err := path(kind, words[1])
		return one(kind, where), err
	}
	return nil, misused("%q: allowed is one NAME", words[2])
}

// show shows the answer to one request.
func (s *session) show(where string, how func([]byte) (string, error)) error {
	return s.say(http.MethodGet, where, nil, how)
}

func list(kind string) request {
	return func(s *session) error { return s.show("/v1/"+kinds[kind], shows[kind].list) }
}

func one(kind, where string) request {
	return func(s *session) error { return s.show(where, shows[kind].detail) }
}

// brief is one, in a row.
func brief(kind, where string) request {
	return func(s *session) error { return s.show(where, shows[kind].row) }
}

func showAll(s *session) error {
	for i, kind := range kindOrder {
		if err := s.part(i > 0, list(kind)); err != nil {
			return err
		}
	}
	if there, err := s.has(tapPath); err != nil || !there {
		return err
	}
	return s.part(true, brief("tap", tapPath))
}

// part shows one of several things, apart from what is before it.
func (s *session) part(apart bool, show request) error {
	if apart && !s.json {
		if err := s.print("\n"); err != nil {
			return err
		}
	}
	return show(s)
}

// tapPath is where the TAP device lies in the interface.
const tapPath = "/v1/tap"

func showWaiters(filter map[string]string) request {
	query := url.Values{}
	for key, value := range filter {
		query.Set(key, value)
	}
	where := "/v1/waiters?" + query.Encode()
	return func(s *session) error {
		return s.show(strings.TrimSuffix(where, "?"), func(b []byte) (string, error) {
			var p waiterPage
			err := json.Unmarshal(b, &p)
			if len(p.Waiters) == 0 {
				return p.footer(), err
			}
			return render(waiterColumns, p.Waiters) + p.footer(), err
		})
	}
}

// footer says what is not on the page.
func (p *waiterPage) footer() string {
	next := p.Skip + int64(len(p.Waiters))
	switch {
	case p.Total == 0:
		return "nobody waits\n"
	case len(p.Waiters) == 0:
		return fmt.Sprintf("%d wait, all of them before skip=%d\n", p.Total, p.Skip)
	case next < p.Total:
		return fmt.Sprintf("%d to %d of %d; skip=%d shows more\n", p.Skip+1, next, p.Total, next)
	}
	return fmt.Sprintf("%d to %d of %d\n", p.Skip+1, next, p.Total)
}
