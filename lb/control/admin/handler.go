package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"penstock/lb/control/metrics"
	"penstock/lb/control/web"
)

// api answers questions about a View, and changes through a Control.
type api struct {
	view    View
	control Control

	// changing is held while a change is made, so that those who come here do
	// not come between each other's. Others, such as SIGHUP, still may.
	changing *sync.Mutex
}

// Handler answers all paths of the interface. Who may ask is not its concern.
func Handler(v View, c Control) http.Handler {
	a := api{v, c, new(sync.Mutex)}
	mux := http.NewServeMux()
	for path, m := range a.paths() {
		if get, ok := m[http.MethodGet]; ok {
			m[http.MethodHead] = get
		}
		mux.Handle(path, m)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, fmt.Sprintf("no such path %q", r.URL.Path))
	})
	return mux
}

func (a api) paths() map[string]methods {
	return map[string]methods{
		"/{$}":                         {"GET": web.Handler().ServeHTTP},
		"/metrics":                     {"GET": metrics.Handler(a.view).ServeHTTP},
		"/healthz":                     {"GET": a.health},
		"/v1/virtuals":                 {"GET": a.virtuals},
		"/v1/virtuals/{name}":          {"GET": a.virtual, "PATCH": a.patch(setVirtual, a.virtual)},
		"/v1/pools":                    {"GET": a.pools},
		"/v1/pools/{name}":             {"GET": a.pool, "PATCH": a.patch(setPool, a.pool)},
		"/v1/pools/{name}/pause":       {"POST": a.pause(true)},
		"/v1/pools/{name}/resume":      {"POST": a.pause(false)},
		"/v1/pools/{name}/flush":       {"POST": a.flush},
		"/v1/members":                  {"GET": a.members, "POST": a.addMember},
		"/v1/members/{pool}/{address}": {"GET": a.member, "PATCH": a.patch(setMember, a.member), "DELETE": a.deleteMember},
		"/v1/nodes":                    {"GET": a.nodes},
		"/v1/nodes/{address}":          {"GET": a.node, "PATCH": a.patch(setNode, a.node)},
		"/v1/waiters":                  {"GET": a.waiters},
		"/v1/tap":                      {"GET": a.tap},
	}
}

// methods is what can be done with one path.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h, ok := m[r.Method]; ok {
		h(w, r)
		return
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	w.Header().Set("Allow", allowed)
	fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("method %q: allowed are %s", r.Method, allowed))
}

func (a api) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if a.view.Draining() {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "draining\n")
		return
	}
	io.WriteString(w, "ok\n")
}

func answer(w http.ResponseWriter, v any) { write(w, http.StatusOK, v) }

// write panics if v can't be JSON: its type is wrong.
func write(w http.ResponseWriter, code int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("admin: %T: %v", v, err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(b.Bytes())
}
