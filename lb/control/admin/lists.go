package admin

import (
	"net/http"
	"net/netip"
	"slices"

	"penstock/lb/control/config"
)

// mostReads bounds how often a reading is begun anew.
const mostReads = 4

// show answers with what get reads, or the refusal that there is no such thing.
// If another configuration came into force meanwhile, a member may have been
// counted in its old place and its new one, or in neither: then it reads again.
func (a api) show(w http.ResponseWriter, get func(*reader) (any, error)) {
	var v any
	var err error
	for range mostReads {
		r := a.read()
		if v, err = get(r); a.view.Config() == r.c {
			break
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, v)
}

func (a api) virtuals(w http.ResponseWriter, _ *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		return map[string]any{"virtuals": all(len(r.c.Virtuals), r.virtual)}, nil
	})
}

func (a api) pools(w http.ResponseWriter, _ *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		return map[string]any{"pools": all(len(r.c.Pools), r.pool)}, nil
	})
}

func (a api) nodes(w http.ResponseWriter, _ *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		return map[string]any{"nodes": all(len(r.c.Nodes), r.node)}, nil
	})
}

func (a api) members(w http.ResponseWriter, _ *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		list := []member{}
		for i := range r.c.Pools {
			for j := range r.c.Pools[i].Members {
				list = append(list, r.member(i, j))
			}
		}
		return map[string]any{"members": list}, nil
	})
}

func (a api) virtual(w http.ResponseWriter, q *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		i, err := findVirtual(r.c, q.PathValue("name"))
		if err != nil {
			return nil, err
		}
		return r.virtual(i), nil
	})
}

func (a api) pool(w http.ResponseWriter, q *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		i, err := findPool(r.c, q.PathValue("name"))
		if err != nil {
			return nil, err
		}
		return r.pool(i), nil
	})
}

func (a api) member(w http.ResponseWriter, q *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		i, j, err := findMember(r.c, q.PathValue("pool"), q.PathValue("address"))
		if err != nil {
			return nil, err
		}
		return r.member(i, j), nil
	})
}

func (a api) node(w http.ResponseWriter, q *http.Request) {
	a.show(w, func(r *reader) (any, error) {
		i, err := findNode(r.c, q.PathValue("address"))
		if err != nil {
			return nil, err
		}
		return r.node(i), nil
	})
}

func all[T any](n int, read func(int) T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = read(i)
	}
	return list
}

// The find functions give the indices of what a path names, or the refusal
// that there is no such thing.

func findVirtual(c *config.Config, name string) (int, error) {
	i := slices.IndexFunc(c.Virtuals, func(v config.Virtual) bool { return v.Name == name })
	return found(i, "virtual server", name)
}

func findPool(c *config.Config, name string) (int, error) {
	i := slices.IndexFunc(c.Pools, func(p config.Pool) bool { return p.Name == name })
	return found(i, "pool", name)
}

func findMember(c *config.Config, pool, address string) (i, j int, err error) {
	if i, err = findPool(c, pool); err != nil {
		return 0, 0, err
	}
	at, _ := netip.ParseAddrPort(address) // nobody has the zero address
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	j = slices.IndexFunc(c.Pools[i].Members, func(m config.Member) bool { return m.Address == at })
	j, err = found(j, "member in pool "+pool, address)
	return i, j, err
}

func findNode(c *config.Config, address string) (int, error) {
	at, _ := netip.ParseAddr(address)
	i := slices.IndexFunc(c.Nodes, func(n config.Node) bool { return n.Address == at.Unmap() })
	return found(i, "node", address)
}

func found(i int, kind, name string) (int, error) {
	if i < 0 {
		return 0, unknown(kind, name)
	}
	return i, nil
}
