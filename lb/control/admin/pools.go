package admin

import (
	"net/http"
)

// pause makes the handler that pauses a pool, or ends that.
func (a api) pause(on bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		_, err := findPool(a.control.Config(), name)
		if err == nil {
			err = noKeys(w, r)
		}
		if err == nil {
			err = a.control.Pause(name, on)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		a.pool(w, r)
	}
}

// noKeys refuses a body that says something.
func noKeys(w http.ResponseWriter, r *http.Request) error {
	pairs, err := readBody(w, r)
	if err != nil {
		return err
	}
	var list []Mistake
	for _, s := range pairs {
		list = append(list, mistake(s.Key, s.Value, "unknown key; allowed are none"))
	}
	if len(list) > 0 {
		return mistaken(list)
	}
	return nil
}

// flush refuses who waits in a pool: all, or those a filter in the query or
// in the body means.
func (a api) flush(w http.ResponseWriter, r *http.Request) {
	c, name := a.control.Config(), r.PathValue("name")
	_, err := findPool(c, name)
	if err != nil {
		refuse(w, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	q, err := readQuestion(c, r, body, false)
	if err != nil {
		refuse(w, err)
		return
	}
	q.Pool = name
	n, err := a.control.Flush(name, q.Filter)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, map[string]int{"flushed": n})
}
