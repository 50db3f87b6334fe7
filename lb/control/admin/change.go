package admin

import (
	"errors"
	"net/http"

	"penstock/lb/control/config"
)

// mostTries bounds how often a change is made again because one from elsewhere
// came first. That is rare; this many in a row mean that something is wrong.
const mostTries = 16

// change edits a copy of what is in force and puts it into force. Edit
// validates what it made.
func (a api) change(edit func(next *config.Config) error) error {
	return a.cutting(func(next *config.Config) ([]int, error) { return nil, edit(next) })
}

// cutting is change by an edit that says which members' connections are reset.
func (a api) cutting(edit func(next *config.Config) (cut []int, err error)) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	for range mostTries {
		old := a.control.Config()
		next := old.Clone()
		cut, err := edit(next)
		if err != nil {
			return err
		}
		if err := a.control.Apply(old, next, cut...); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return &refusal{code: http.StatusConflict, Text: "other changes keep coming first; nothing has changed"}
}

// setter sets keys of the object that a path names.
type setter func(c *config.Config, path *http.Request, keys []config.Setting) error

func setVirtual(c *config.Config, path *http.Request, keys []config.Setting) error {
	return c.SetVirtual(path.PathValue("name"), keys...)
}

func setPool(c *config.Config, path *http.Request, keys []config.Setting) error {
	return c.SetPool(path.PathValue("name"), keys...)
}

func setMember(c *config.Config, path *http.Request, keys []config.Setting) error {
	return c.SetMember(path.PathValue("pool"), path.PathValue("address"), keys...)
}

func setNode(c *config.Config, path *http.Request, keys []config.Setting) error {
	return c.SetNode(path.PathValue("address"), keys...)
}

// patch makes a handler that sets keys of an object and answers with how it
// is then.
func (a api) patch(set setter, show http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.set(set, w, r); err != nil {
			refuse(w, err)
			return
		}
		show(w, r)
	}
}

func (a api) set(set setter, w http.ResponseWriter, r *http.Request) error {
	if err := set(a.control.Config().Clone(), r, nil); errors.Is(err, config.ErrUnknown) {
		return err // whatever the body says
	}
	keys, err := readBody(w, r)
	if err != nil || len(keys) == 0 {
		return err
	}
	return a.change(func(next *config.Config) error { return set(next, r, keys) })
}
