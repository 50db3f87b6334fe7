package monitor

import (
	"hash/fnv"
	"net/netip"
	"strings"
	"time"

	rules "penstock/lb/monitor"
	"penstock/stack/proxyheader"
)

// Kind is what is asked of a server.
type Kind uint8

const (
	TCP  Kind = iota // that it takes connections
	HTTP             // that it answers a request well
)

// Target is one server to be checked, and how.
type Target struct {
	Key     string // names it in reports; one target a key
	Address netip.AddrPort
	Kind    Kind

	// Interval and Timeout are lb/monitor's Rule: 0 is 5 s, and three intervals
	// and a second.
	Interval, Timeout time.Duration

	// Send is what an HTTP check asks. A path (it begins with a slash) is asked
	// for with GET; anything else is sent as it is. Empty: "/".
	Send string

	// Recv is the text that must be in the first 64 KiB of the answer, headers
	// and chunk lengths included. Empty: a status of 200 to 399 is good.
	Recv string

	// Proxy is the PROXY header that goes first.
	Proxy proxyheader.Version
}

func (t *Target) rule() rules.Rule {
	return rules.Rule{Interval: t.Interval, Timeout: t.Timeout}
}

// opening is all that a check sends.
func (t *Target) opening() []byte {
	b := proxyheader.AppendLocal(nil, t.Proxy)
	if t.Kind != HTTP {
		return b
	}
	path := t.Send
	switch {
	case path == "":
		path = "/"
	case !strings.HasPrefix(path, "/"):
		return append(b, t.Send...)
	}
	return append(b, "GET "+path+" HTTP/1.1\r\nHost: "+t.Address.String()+
		"\r\nUser-Agent: penstock\r\nConnection: close\r\n\r\n"...)
}

// seed tells targets apart, the same way in each process.
func (t *Target) seed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(t.Key))
	return h.Sum64()
}
