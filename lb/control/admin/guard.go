package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard lets in who may ask: over TCP whoever shows the token, if there is
// one (nil: none), and nobody whom another site sent.
func guard(h http.Handler, tcp bool, t *token) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		switch {
		case tcp && t != nil && !t.allows(r):
			stranger(w)
		case tcp && t == nil && !local(r.Host):
			fail(w, http.StatusMisdirectedRequest, "ask for it by its IP address, or as localhost")
		case foreign(cross, r):
			fail(w, http.StatusForbidden, "requests from other sites are refused")
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// stranger tells nothing, and takes up no connection for longer than that.
func stranger(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="penstock"`)
	w.Header().Set("Connection", "close")
	fail(w, http.StatusUnauthorized, "a token is needed")
}

// foreign says whether a page of another site made a browser send this. What
// only reads is refused like what changes something: the standard library
// would let it pass, since a browser hides the answer from the page, but the
// work is done all the same.
func foreign(cross *http.CrossOriginProtection, r *http.Request) bool {
	changing := *r
	changing.Method = http.MethodPost
	return cross.Check(&changing) != nil
}

// secure sets what browsers heed.
func secure(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// local says whether a Host can't be a name that somebody else lets point
// here.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	_, err := netip.ParseAddr(host)
	return err == nil || strings.EqualFold(host, "localhost")
}
