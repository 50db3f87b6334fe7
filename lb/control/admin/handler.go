package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"penstock/lb/control/metrics"
)

// api answers questions about a View.
type api struct{ view View }

// Handler answers all paths of the interface. Who may ask is not its concern.
func Handler(v View) http.Handler {
	a := api{v}
	mux := http.NewServeMux()
	mux.Handle("/metrics", get(metrics.Handler(v).ServeHTTP))
	mux.Handle("/healthz", get(a.health))
	mux.Handle("/v1/virtuals", get(a.virtuals))
	mux.Handle("/v1/virtuals/{name}", get(a.virtual))
	mux.Handle("/v1/pools", get(a.pools))
	mux.Handle("/v1/pools/{name}", get(a.pool))
	mux.Handle("/v1/members", get(a.members))
	mux.Handle("/v1/members/{pool}/{address}", get(a.member))
	mux.Handle("/v1/nodes", get(a.nodes))
	mux.Handle("/v1/nodes/{address}", get(a.node))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, fmt.Sprintf("no such path %q", r.URL.Path))
	})
	return mux
}

// get refuses all methods that could change something.
func get(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("method %q: allowed are GET and HEAD", r.Method))
			return
		}
		h(w, r)
	})
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

// fail says what is wrong, for people to read.
func fail(w http.ResponseWriter, code int, what string) {
	write(w, code, struct {
		Error string `json:"error"`
	}{what})
}

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
