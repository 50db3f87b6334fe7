package config

import (
	"strconv"
	"time"
)

// virtualKeys is what can be set on a virtual server. The first key is the
// one a bare first word stands for.
var virtualKeys = []key[Virtual]{
	fix(textKey("name", "NAME", "", "its name, in logs and numbers", parseName,
		func(v *Virtual) *string { return &v.Name }), true),
	listenKey,
	poolKey[Virtual]("the pool that serves it; may be left out if there is only one"),
	limitKey("connection-limit", "no limit", "connections to servers at once; what is more waits",
		func(v *Virtual) *int64 { return &v.ConnectionLimit }),
	prefixKey("persist", "clients that are alike in the first bits of their address go to one member; "+
		"source alone is all bits, or with BITS4 below 32 and no BITS6: 64 of IPv6",
		func(v *Virtual) *Prefix { return &v.Persist }),
	timeKey("persist-timeout", "3m", "how long a member is remembered after the last connection; a bare number is seconds",
		times{bare: time.Second}, func(v *Virtual) *time.Duration { return &v.PersistTimeout }),
	boolKey("override-connection-limit", "off", "on", "off",
		"whether a client goes to the member it belongs to although that is full",
		func(v *Virtual) *bool { return &v.OverrideLimit }),
	classKey,
	classesKey,
	proxied(boolKey("accept-proxy-protocol", "off", "on", "off",
		"whether every connection has to begin with a PROXY header (v1 or v2)",
		func(v *Virtual) *bool { return &v.AcceptProxy })),
	proxied(trustedKey),
	proxied(timeKey("proxy-header-timeout", "3s", "longest wait for the PROXY header", times{max: time.Hour},
		func(v *Virtual) *time.Duration { return &v.ProxyHeaderTimeout })),
	lasts(choiceKey("mode", "tcp: clients' connections end here, and others carry the bytes on to servers; "+
		"forward: with front=tap, clients' own segments go on to servers, with other addresses", transportWords,
		func(v *Virtual) *Transport { return &v.Transport })),
	snatKey,
	lasts(choiceKey("front", "who speaks TCP to the clients: the kernel; or we, on the device of -tap, "+
		"where a client is answered when its turn has come", frontWords,
		func(v *Virtual) *Front { return &v.Front })),
	with("front", "tap", choiceKey("syn-proof",
		"with front=tap: who has to echo a cookie before anything is kept of it; auto: who comes while half the queue, "+
			"or the share of its prefix, has not, or while many SYNs come to nothing",
		synProofWords, func(v *Virtual) *SynProof { return &v.SynProof })),
	with("front", "tap", shareKey),
	choiceKey("refuse", "what a client sees that can't be served: RST, FIN, or a minimal HTTP 503; "+
		"with front=tap RST, or nothing (drop)", refuseWords,
		func(v *Virtual) *Refuse { return &v.Refuse }),
	timeKey("idle-timeout", "5m", "longest silence of a connection, both ways", times{zero: "never"},
		func(v *Virtual) *time.Duration { return &v.IdleTimeout }),
	timeKey("half-close-timeout", "30s", "longest time one way stays open after the other's end", times{zero: "never"},
		func(v *Virtual) *time.Duration { return &v.HalfClose }),
	// TCP_KEEPIDLE is whole seconds up to 32767.
	proxied(timeKey("keepalive", "30s", "silence before TCP asks whether the peer is there",
		times{zero: "off", min: time.Second, max: 9 * time.Hour},
		func(v *Virtual) *time.Duration { return &v.Keepalive })),
	// TCP_USER_TIMEOUT is milliseconds in an int.
	proxied(timeKey("tcp-user-timeout", "2m", "longest time sent bytes may stay unconfirmed",
		times{zero: "the kernel's own", min: time.Millisecond, max: 24 * 24 * time.Hour},
		func(v *Virtual) *time.Duration { return &v.UserTimeout })),
}

// proxied marks a key of what is ours of a connection: of a forwarded one
// nothing is.
func proxied(k key[Virtual]) key[Virtual] { return without("mode", Forwarded.String(), k) }

// snatKey holds for connections that begin from then on.
var snatKey = with("mode", Forwarded.String(), key[Virtual]{
	name: "snat", form: "ADDR[/ADDR...]|none", def: nobody,
	help: "with mode=forward: addresses of ours that take the place of clients' before servers, 64512 connections of each " +
		"to each server; none: servers see clients' own, and have to route back by us",
	set: func(v *Virtual, s string) error { return assign(&v.SNAT, s, parseSNAT) },
	get: func(v *Virtual) string { return formatHosts(v.SNAT) },
})

var listenKey = key[Virtual]{
	name: "listen", form: "ADDR", required: true, fixed: true,
	help: "IP:PORT, [IPv6]:PORT, or :PORT for all addresses, IPv4 and IPv6",
	set: func(v *Virtual, s string) error {
		a, dual, err := parseListen(s)
		if err == nil {
			v.Listen, v.Dual = a, dual
		}
		return err
	},
	get: func(v *Virtual) string { return formatListen(v.Listen, v.Dual) },
}

var trustedKey = key[Virtual]{
	name: "trusted-proxies", form: "CIDR[/CIDR...]|none", def: "none",
	help: "who may send a PROXY header; others are refused. An address without bits is one host",
	set:  func(v *Virtual, s string) error { return assign(&v.TrustedProxies, s, parsePrefixes) },
	get:  func(v *Virtual) string { return formatPrefixes(v.TrustedProxies) },
}

var classKey = key[Virtual]{
	name: "queue-class", form: "0..7", def: "0", help: "clients of a higher class are served first",
	set: func(v *Virtual, s string) error { return assign(&v.QueueClass, s, parseClass) },
	get: func(v *Virtual) string { return strconv.Itoa(int(v.QueueClass)) },
}

var shareKey = key[Virtual]{
	name: "syn-share", form: "PERCENT", def: "25", zero: "all of it",
	help: "with front=tap: how much of the queue the unproven clients of one source prefix (/24 of IPv4, /48 of IPv6) may fill",
	set: func(v *Virtual, s string) error {
		return assign(&v.SynShare, s, func(s string) (int, error) {
			n, err := counts{max: 100, zero: "all of it"}.parse(s)
			return int(n), err
		})
	},
	get: func(v *Virtual) string { return strconv.Itoa(v.SynShare) },
}

var classesKey = key[Virtual]{
	name: "queue-class-from", form: "CIDR:N[/CIDR:N...]|none", def: "none",
	help: "queue-class of clients by their address; the longest prefix that matches decides",
	set:  func(v *Virtual, s string) error { return assign(&v.QueueClassFrom, s, parseClasses) },
	get:  func(v *Virtual) string { return formatClasses(v.QueueClassFrom) },
}
