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
	boolKey("accept-proxy-protocol", "off", "on", "off",
		"whether every connection has to begin with a PROXY header (v1 or v2)",
		func(v *Virtual) *bool { return &v.AcceptProxy }),
	trustedKey,
	timeKey("proxy-header-timeout", "3s", "longest wait for the PROXY header", times{max: time.Hour},
		func(v *Virtual) *time.Duration { return &v.ProxyHeaderTimeout }),
	onlyKey[Virtual]("mode", "tcp", "what is balanced: connections"),
	onlyKey[Virtual]("front", "kernel", "who speaks TCP to the clients"),
	choiceKey("refuse", "what a client sees that can't be served: RST, FIN, or a minimal HTTP 503", refuseWords,
		func(v *Virtual) *Refuse { return &v.Refuse }),
	timeKey("idle-timeout", "5m", "longest silence of a connection, both ways", times{zero: "never"},
		func(v *Virtual) *time.Duration { return &v.IdleTimeout }),
	timeKey("half-close-timeout", "30s", "longest time one way stays open after the other's end", times{zero: "never"},
		func(v *Virtual) *time.Duration { return &v.HalfClose }),
	// TCP_KEEPIDLE is whole seconds up to 32767.
	timeKey("keepalive", "30s", "silence before TCP asks whether the peer is there",
		times{zero: "off", min: time.Second, max: 9 * time.Hour},
		func(v *Virtual) *time.Duration { return &v.Keepalive }),
	// TCP_USER_TIMEOUT is milliseconds in an int.
	timeKey("tcp-user-timeout", "2m", "longest time sent bytes may stay unconfirmed",
		times{zero: "the kernel's own", min: time.Millisecond, max: 24 * 24 * time.Hour},
		func(v *Virtual) *time.Duration { return &v.UserTimeout }),
}

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

var classesKey = key[Virtual]{
	name: "queue-class-from", form: "CIDR:N[/CIDR:N...]|none", def: "none",
	help: "queue-class of clients by their address; the longest prefix that matches decides",
	set:  func(v *Virtual, s string) error { return assign(&v.QueueClassFrom, s, parseClasses) },
	get:  func(v *Virtual) string { return formatClasses(v.QueueClassFrom) },
}
