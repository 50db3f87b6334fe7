package admin

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"penstock/lb/control/config"
)

// Bounds of a page of waiters.
const (
	usualPage = 100
	mostPage  = 10000
)

// question is which waiters are asked for.
type question struct {
	Filter
	skip, limit int
}

// filterKeys is what a filter is made of. Each setter says what is allowed.
var filterKeys = map[string]func(*question, *config.Config, string) string{
	"client": func(q *question, _ *config.Config, s string) string {
		p, err := parseClient(s)
		q.Client = p
		return unless(err == nil, "allowed is an address, or a prefix such as 10.0.0.0/8")
	},
	"older": func(q *question, _ *config.Config, s string) string {
		d, err := time.ParseDuration(s)
		q.Older = d
		return unless(err == nil && d >= 0, "allowed is a time, such as 500ms or 2s")
	},
	"queue": func(q *question, _ *config.Config, s string) string {
		at, ok := queueWords[s]
		q.Queue = at
		return unless(ok, "allowed is pool|member")
	},
	"virtual": func(q *question, c *config.Config, s string) string {
		_, err := findVirtual(c, s)
		q.Virtual = s
		return unless(err == nil, "no such virtual server")
	},
}

// pageKeys are those that a list takes besides.
var pageKeys = map[string]func(*question, *config.Config, string) string{
	"pool": func(q *question, c *config.Config, s string) string {
		_, err := findPool(c, s)
		q.Pool = s
		return unless(err == nil, "no such pool")
	},
	"skip": func(q *question, _ *config.Config, s string) string {
		n, err := strconv.ParseUint(s, 10, 31)
		q.skip = int(n)
		return unless(err == nil, "allowed is 0 or more")
	},
	"limit": func(q *question, _ *config.Config, s string) string {
		n, err := strconv.ParseUint(s, 10, 31)
		q.limit = int(n)
		return unless(err == nil && n >= 1 && n <= mostPage, "allowed is 1 to "+strconv.Itoa(mostPage))
	},
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// parseClient takes an address for the prefix of itself. An IPv4 address in
// the form of IPv6 is what it is.
func parseClient(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, strconv.ErrSyntax
		}
		return a.Unmap().Prefix(a.Unmap().BitLen())
	}
	p, err := netip.ParsePrefix(s)
	if err == nil && p.Addr().Is4In6() {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if err != nil || !p.IsValid() {
		return netip.Prefix{}, strconv.ErrSyntax
	}
	return p.Masked(), nil
}

// readQuestion reads a question: keys of the query, and those of the body.
func readQuestion(c *config.Config, r *http.Request, body []config.Setting, paged bool) (question, error) {
	q := question{limit: usualPage}
	pairs, err := queryPairs(r.URL.RawQuery)
	if err != nil {
		return q, err
	}
	var list []Mistake
	seen := map[string]bool{}
	for _, s := range append(pairs, body...) {
		set, ok := filterKeys[s.Key]
		if !ok && paged {
			set, ok = pageKeys[s.Key]
		}
		why := ""
		switch {
		case !ok:
			why = "unknown key; allowed are " + strings.Join(questionKeys(paged), ", ")
		case seen[s.Key]:
			why = "key given twice; allowed is once"
		default:
			why = set(&q, c, s.Value)
		}
		seen[s.Key] = true
		if why != "" {
			list = append(list, mistake(s.Key, s.Value, why))
		}
	}
	if len(list) > 0 {
		return q, mistaken(list)
	}
	return q, nil
}

func questionKeys(paged bool) (names []string) {
	for name := range filterKeys {
		names = append(names, name)
	}
	for name := range pageKeys {
		if paged {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// queryPairs takes a query apart, sorted by key.
func queryPairs(query string) (pairs []config.Setting, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, badRequest("query: %v", err)
	}
	for key, list := range values {
		for _, v := range list {
			pairs = append(pairs, config.Setting{Key: key, Value: v})
		}
	}
	slices.SortStableFunc(pairs, func(a, b config.Setting) int { return cmp.Compare(a.Key, b.Key) })
	return pairs, nil
}
