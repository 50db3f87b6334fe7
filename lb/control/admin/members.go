package admin

import (
	"errors"
	"net/http"
	"net/url"

	"penstock/lb/control/config"
)

// defaultPool is where a member belongs that names no pool.
const defaultPool = "default"

// addMember takes the keys of a -member flag.
func (a api) addMember(w http.ResponseWriter, r *http.Request) {
	keys, err := readBody(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	pool, address := defaultPool, ""
	for _, s := range keys {
		switch s.Key {
		case "pool":
			pool = s.Value
		case "address":
			address = s.Value
		}
	}
	err = a.change(func(next *config.Config) error { return next.AddMember(pool, keys...) })
	if errors.Is(err, config.ErrUnknown) { // the path is there, the body is wrong
		err = mistaken([]Mistake{mistake("pool", pool, "no such pool")})
	}
	if err != nil {
		refuse(w, err)
		return
	}
	a.created(w, pool, address)
}

// created answers with a new member.
func (a api) created(w http.ResponseWriter, pool, address string) {
	r := a.read()
	i, j, err := findMember(r.c, pool, address)
	if err != nil { // somebody else has removed it by now
		refuse(w, err)
		return
	}
	m := r.member(i, j)
	w.Header().Set("Location", "/v1/members/"+url.PathEscape(m.Pool)+"/"+url.PathEscape(m.Address))
	write(w, http.StatusCreated, m)
}

// deletion is the answer to DELETE.
type deletion struct {
	Deleted     string `json:"deleted"`
	Connections int64  `json:"connections"` // that go on
}

// deleteMember takes a member out of its pool. What is connected to it goes
// on, unless now=true.
func (a api) deleteMember(w http.ResponseWriter, r *http.Request) {
	pool, address := r.PathValue("pool"), r.PathValue("address")
	done, err := a.remove(w, r, pool, address)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, done)
}

func (a api) remove(w http.ResponseWriter, r *http.Request, pool, address string) (done deletion, err error) {
	reader := a.read()
	i, j, err := findMember(reader.c, pool, address)
	if err != nil {
		return done, err
	}
	now, err := nowOf(r)
	if err == nil {
		err = noKeys(w, r)
	}
	if err != nil {
		return done, err
	}
	done.Deleted = reader.c.Pools[i].Name + "/" + reader.c.Pools[i].Members[j].Address.String()
	if !now {
		done.Connections = reader.member(i, j).Connections.Current
	}
	return done, a.cutting(func(next *config.Config) (cut []int, err error) {
		i, j, err := findMember(next, pool, address)
		if err != nil {
			return nil, err
		}
		if now {
			cut = []int{next.Pools[i].Members[j].ID}
		}
		return cut, next.RemoveMember(pool, address)
	})
}

// nowOf reads the query of a DELETE.
func nowOf(r *http.Request) (now bool, err error) {
	pairs, err := queryPairs(r.URL.RawQuery)
	if err != nil {
		return false, err
	}
	var list []Mistake
	for i, s := range pairs {
		switch {
		case s.Key != "now":
			list = append(list, mistake(s.Key, s.Value, "unknown key; allowed is now"))
		case i > 0:
			list = append(list, mistake(s.Key, s.Value, "key given twice; allowed is once"))
		case s.Value != "true" && s.Value != "false":
			list = append(list, mistake(s.Key, s.Value, "allowed is true|false"))
		}
		now = s.Value == "true"
	}
	if len(list) > 0 {
		return false, mistaken(list)
	}
	return now, nil
}
