package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Validate settles what other keys decide, checks what keys mean together,
// and renews Warnings. Parse and whatever changes a Config end with it. An
// error is Mistakes, and leaves the Warnings alone.
func (c *Config) Validate() error {
	if m := c.check(nil); len(m) > 0 {
		return m
	}
	c.Warnings = warnings(c)
	return nil
}

// object names one in a mistake; a setting has no name besides its flag's.
type object struct{ flag, name string }

func (o object) String() string { return o.flag + " " + bare(o.name) }

// origin is what an object was made of, on the command line or in a file.
type origin struct {
	given
	keys map[string]string // as in a draft
}

// mistaken says that a key was given and is wrong.
func (o origin) mistaken(key string) bool {
	value, given := o.keys[key]
	return given && value == ""
}

type checker struct {
	c        *Config
	origins  map[object]origin
	mistakes Mistakes
}

// check looks at rules between keys; those of one key are checked when it is
// set. Objects that are in origins are called what they are there.
func (c *Config) check(origins map[object]origin) Mistakes {
	k := checker{c: c, origins: origins}
	c.settlePorts()
	for i := range c.Pools {
		c.Pools[i].settleMonitor()
		k.pool(&c.Pools[i])
	}
	for i := range c.Virtuals {
		k.virtual(&c.Virtuals[i])
	}
	k.taps()
	k.forwards()
	k.counts()
	k.admin()
	return k.mistakes
}

// MostObjects is how many virtual servers, pools, members in all pools, and
// nodes there may be, of each. They have numbers of 16 bits, which those that
// were removed keep until their last connection has ended: so there are as many
// again for these.
const MostObjects = 32_000

func (k *checker) counts() {
	members := 0
	for i := range k.c.Pools {
		members += len(k.c.Pools[i].Members)
	}
	for _, of := range []struct {
		flag string
		n    int
	}{
		{flagVirtual, len(k.c.Virtuals)}, {flagPool, len(k.c.Pools)}, {flagMember, members}, {flagNode, len(k.c.Nodes)},
	} {
		if of.n > MostObjects {
			what := "-" + of.flag
			if of.flag == flagNode {
				what += ", with the addresses of members"
			}
			k.mistakes = append(k.mistakes, fmt.Sprintf("%s: there are %d; allowed are %d", what, of.n, MostObjects))
		}
	}
}

// wrong keeps quiet if a key of the rule has been reported already.
func (k *checker) wrong(o object, keys []Setting, format string, args ...any) {
	from, known := k.origins[o]
	if slices.ContainsFunc(keys, func(s Setting) bool { return from.mistaken(s.Key) }) {
		return
	}
	label := o.String()
	if known {
		label = from.String()
	}
	k.mistakes = append(k.mistakes, fmt.Sprintf("%s: %s=%s: %s",
		label, keys[0].Key, quote(keys[0].Value), fmt.Sprintf(format, args...)))
}

func (k *checker) virtual(v *Virtual) {
	if v.AcceptProxy && len(v.TrustedProxies) == 0 && v.Transport == Proxied {
		k.wrong(object{flagVirtual, v.Name}, []Setting{{"trusted-proxies", nobody}, {Key: "accept-proxy-protocol"}},
			"with accept-proxy-protocol=on nobody could connect; allowed are addresses and prefixes, such as 10.0.0.0/8; 0.0.0.0/0/::/0 is anybody")
	}
	k.front(v)
}

func (k *checker) pool(p *Pool) {
	o := object{flagPool, p.Name}
	if p.RefuseEarly && p.QueueTime == 0 {
		k.wrong(o, []Setting{{"refuse-early", "on"}, {Key: "queue-time-limit"}},
			"with queue-time-limit=0 nobody waits too long; allowed is off, or a queue-time-limit above 0")
	}
	// Who has turned the monitor off wants to turn it on again as it was.
	if p.Monitor == MonitorHTTP || p.asked.monitor == MonitorNone {
		return
	}
	const allowed = "only monitor=http %s, and this is %s; allowed is %s, monitor=http or monitor=none"
	if p.MonitorSend != defaultSend {
		k.wrong(o, []Setting{{"monitor-send", monitorSendKey.get(p)}, {Key: "monitor"}},
			allowed, "sends anything", monitorKey.show(p), defaultSend)
	}
	if p.MonitorRecv != "" {
		k.wrong(o, []Setting{{"monitor-recv", monitorRecvKey.get(p)}, {Key: "monitor"}},
			allowed, "reads an answer", monitorKey.show(p), anyAnswer)
	}
}

func (k *checker) admin() {
	a, err := netip.ParseAddrPort(k.c.Admin)
	if err != nil || a.Addr().IsLoopback() || k.c.AdminTokenFile != "" || k.mistaken(tokenKey.name) {
		return
	}
	g := k.origins[object{flag: "admin"}].given
	if g.flag == "" {
		g = given{flag: "admin", value: k.c.Admin}
	}
	k.mistakes = append(k.mistakes, g.String()+": not an address of this host only, so a client needs a token; "+
		"allowed is it with -admin-token-file FILE, or unix:PATH, or a loopback address")
}

// mistaken says that a setting was given and is wrong.
func (k *checker) mistaken(setting string) bool {
	o, given := k.origins[object{flag: setting}]
	return given && o.keys[setting] == ""
}
