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
		case tcp && t == nil && !local(r.Host):
			fail(w, http.StatusMisdirectedRequest, "ask for it by its IP address, or as localhost")
		case page(r):
			if tcp && t != nil {
				w.Header().Set("Connection", "close") // as for a stranger: it may be one
			}
			h.ServeHTTP(w, r)
		case tcp && t != nil && !t.allows(r):
			stranger(w)
		case foreign(cross, r):
			fail(w, http.StatusForbidden, "requests from other sites are refused")
		default:
			attend(h, w, r)
		}
	})
}

// page says whether somebody wants the page and nothing else. It holds no
// number and no name, asks for the token itself, and may be linked to from
// elsewhere; no other site can look into it, or show it as a part of its own.
func page(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
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
