package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard keeps browsers from being used against the interface.
func guard(h http.Handler, tcp bool) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, "requests from other sites are refused")
	}))
	h = cross.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if tcp && !local(r.Host) {
			fail(w, http.StatusMisdirectedRequest, "ask for it by its IP address, or as localhost")
			return
		}
		h.ServeHTTP(w, r)
	})
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
