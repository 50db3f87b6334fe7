package admin

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"penstock/lb/control/config"
)

func (a api) virtuals(w http.ResponseWriter, _ *http.Request) {
	r := a.read()
	answer(w, map[string]any{"virtuals": all(len(r.c.Virtuals), r.virtual)})
}

func (a api) pools(w http.ResponseWriter, _ *http.Request) {
	r := a.read()
	answer(w, map[string]any{"pools": all(len(r.c.Pools), r.pool)})
}

func (a api) nodes(w http.ResponseWriter, _ *http.Request) {
	r := a.read()
	answer(w, map[string]any{"nodes": all(len(r.c.Nodes), r.node)})
}

func (a api) members(w http.ResponseWriter, _ *http.Request) {
	r := a.read()
	list := []member{}
	for i := range r.c.Pools {
		for j := range r.c.Pools[i].Members {
			list = append(list, r.member(i, j))
		}
	}
	answer(w, map[string]any{"members": list})
}

func (a api) virtual(w http.ResponseWriter, q *http.Request) {
	r, name := a.read(), q.PathValue("name")
	i := slices.IndexFunc(r.c.Virtuals, func(v config.Virtual) bool { return v.Name == name })
	if i < 0 {
		unknown(w, "virtual server", name)
		return
	}
	answer(w, r.virtual(i))
}

func (a api) pool(w http.ResponseWriter, q *http.Request) {
	r, name := a.read(), q.PathValue("name")
	i := r.poolNamed(name)
	if i < 0 {
		unknown(w, "pool", name)
		return
	}
	answer(w, r.pool(i))
}

func (a api) member(w http.ResponseWriter, q *http.Request) {
	r, name, address := a.read(), q.PathValue("pool"), q.PathValue("address")
	i := r.poolNamed(name)
	if i < 0 {
		unknown(w, "pool", name)
		return
	}
	at, _ := netip.ParseAddrPort(address) // nobody has the zero address
	j := slices.IndexFunc(r.c.Pools[i].Members, func(m config.Member) bool { return m.Address == at })
	if j < 0 {
		unknown(w, "member in pool "+name, address)
		return
	}
	answer(w, r.member(i, j))
}

func (a api) node(w http.ResponseWriter, q *http.Request) {
	r, address := a.read(), q.PathValue("address")
	at, _ := netip.ParseAddr(address)
	i := slices.IndexFunc(r.c.Nodes, func(n config.Node) bool { return n.Address == at })
	if i < 0 {
		unknown(w, "node", address)
		return
	}
	answer(w, r.node(i))
}

func (r *reader) poolNamed(name string) int {
	return slices.IndexFunc(r.c.Pools, func(p config.Pool) bool { return p.Name == name })
}

func all[T any](n int, read func(int) T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = read(i)
	}
	return list
}

func unknown(w http.ResponseWriter, kind, name string) {
	fail(w, http.StatusNotFound, fmt.Sprintf("no %s %q", kind, name))
}
