package config

import (
	"net/netip"
	"slices"
)

// forwards checks what virtual servers ask whose connections are forwarded:
// that nothing has to be said on the way, and that there is a way.
func (k *checker) forwards() {
	if !k.c.Forwards() {
		return
	}
	owners := k.owners()
	type group struct {
		pool int
		four bool
	}
	seen := map[group]bool{}
	alone := false
	for i := range k.c.Virtuals {
		v := &k.c.Virtuals[i]
		if v.Transport != Forwarded {
			continue
		}
		o := object{flagVirtual, v.Name}
		if v.Front != FrontTap {
			k.wrong(o, []Setting{{"mode", v.Transport.String()}, {Key: "front"}}, "needs front=tap; allowed is it with that and -tap NAME, or mode=tcp")
			continue
		}
		if k.c.Tap != nil && k.c.serverTap() == nil && !alone {
			alone = true
			k.wrong(object{flagTap, k.c.Tap.Device}, []Setting{{"side", ClientSide.String()}},
				"virtual server %s has mode=forward, and there is no device for servers; allowed is both, or one more -tap with side=servers", v.Name)
		}
		if !oneHost(v.Listen.Addr()) {
			continue // it has been said
		}
		k.snat(v, owners)
		known := v.Pool >= 0 && v.Pool < len(k.c.Pools)
		if at := (group{v.Pool, v.Listen.Addr().Is4()}); known && !seen[at] {
			seen[at] = true
			k.servers(v)
		}
	}
}

// owners says whose the addresses are that can't be ours besides.
func (k *checker) owners() map[netip.Addr]string {
	all := map[netip.Addr]string{}
	for i := range k.c.Pools {
		p := &k.c.Pools[i]
		for j := range p.Members {
			all[p.Members[j].Address.Addr()] = "member " + p.Name + "/" + p.Members[j].Address.String()
		}
	}
	for _, t := range k.c.taps() {
		for _, a := range t.Gateways {
			all[a] = "the gateway of tap " + t.Device
		}
	}
	for i := range k.c.Virtuals {
		if v := &k.c.Virtuals[i]; !v.Dual {
			all[v.Listen.Addr()] = "virtual server " + v.Name
		}
	}
	return all
}

// snat checks the addresses that stand for clients of a virtual server.
func (k *checker) snat(v *Virtual, owners map[netip.Addr]string) {
	o, keys := object{flagVirtual, v.Name}, []Setting{{"snat", formatHosts(v.SNAT)}, {Key: "listen"}}
	for _, a := range v.SNAT {
		if a.Is4() != v.Listen.Addr().Is4() {
			k.wrong(o, keys, "%s is no %s address, which its clients have; allowed are those", a, family(v.Listen.Addr()))
			return
		}
		if owner, taken := owners[a]; taken {
			k.wrong(o, keys, "%s is the address of %s; allowed are addresses that have no other use", a, owner)
			return
		}
	}
}

// servers checks whether connections of a virtual server can be forwarded to
// the members of its pool.
func (k *checker) servers(v *Virtual) {
	p, t := &k.c.Pools[v.Pool], k.c.serverTap()
	if p.SendProxy != ProxyOff {
		k.wrong(object{flagPool, p.Name}, []Setting{{"send-proxy-protocol", p.SendProxy.String()}},
			"virtual server %s has mode=forward, which puts nothing into a connection; allowed is off", v.Name)
	}
	for i := range p.Members {
		at := p.Members[i].Address
		a := at.Addr()
		wrong := func(format string, args ...any) {
			k.wrong(memberOf(p.Name, at.String()), []Setting{{"address", at.String()}},
				"virtual server %s has mode=forward, and "+format, append([]any{v.Name}, args...)...)
		}
		switch {
		case a.Is4() != v.Listen.Addr().Is4():
			wrong("%s clients; allowed is such a server, or mode=tcp", family(v.Listen.Addr()))
		case t == nil || k.wayMistaken(t):
		case k.ours(a):
			wrong("this is an address of ours on a TAP device; allowed is a server's")
		case !oneHost(a) || !t.leads(a):
			wrong("tap %s does not lead there; allowed is a server in a network of its address=, or its gateway= for %s, or mode=tcp",
				t.Device, family(a))
		}
	}
}

// ours says whether an address is ours on a TAP device.
func (k *checker) ours(a netip.Addr) bool {
	return slices.ContainsFunc(k.c.taps(), func(t *Tap) bool { return t.has(a) }) ||
		slices.ContainsFunc(k.c.Virtuals, func(v Virtual) bool { return v.Front == FrontTap && v.Listen.Addr() == a })
}

// gateways checks whether routers are where we can ask for them.
func (k *checker) gateways(t *Tap) {
	o, keys := object{flagTap, t.Device}, []Setting{{"gateway", formatHosts(t.Gateways)}, {Key: "address"}}
	if len(t.Gateways) > 0 && t.Side == ClientSide {
		k.wrong(o, keys, "is for servers, which are not on it; allowed is none, or it on the device with side=servers")
		return
	}
	six := slices.ContainsFunc(t.Addresses, func(p netip.Prefix) bool { return p.Addr().Is6() })
	for _, g := range t.Gateways {
		switch {
		case k.ours(g):
			k.wrong(o, keys, "%s is an address of ours; allowed is that of a router", g)
		case !t.on(g) && !(g.IsLinkLocalUnicast() && g.Is6() && six):
			k.wrong(o, keys, "%s is in no network of its address=; allowed is a router that is in one", g)
		}
	}
}

// wayMistaken says that what leads to servers has been reported already.
func (k *checker) wayMistaken(t *Tap) bool {
	o := k.origins[object{flagTap, t.Device}]
	return o.mistaken("address") || o.mistaken("gateway")
}
