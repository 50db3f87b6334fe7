package config

import "fmt"

// resolveTaps finds the device that clients are on, and the one of servers if
// they have one of their own. What the command line says of either goes before
// what a flag file says.
func (p *parser) resolveTaps() {
	type place struct {
		source string
		side   Side
	}
	used := map[place]bool{}
	taps := map[Side]*draft[Tap]{} // those for clients, and for servers
	for i := range p.taps {
		d := &p.taps[i]
		side := ClientSide
		if d.object.Side == ServerSide || d.mistaken("side") && taps[ClientSide] != nil {
			side = ServerSide
		}
		if at := (place{d.source(), side}); used[at] {
			p.mistake(d.given, "given twice; allowed is once, and once more with side=servers")
			continue
		} else {
			used[at] = true
		}
		taps[side] = d
		p.origins[object{flagTap, d.object.Device}] = origin{d.given, d.keys}
	}
	p.takeTaps(taps[ClientSide], taps[ServerSide])
}

func (p *parser) takeTaps(clients, servers *draft[Tap]) {
	if servers == nil {
		if clients != nil {
			p.config.Tap = &clients.object
		}
		return
	}
	if clients == nil {
		p.wrong(servers.given, "side", ServerSide.String(), "there is none for clients; allowed is both, or one more -tap for clients")
		p.config.Tap = &servers.object
		return
	}
	if clients.keys["side"] == BothSides.String() {
		p.wrong(clients.given, "side", BothSides.String(), "servers are on another, %s; allowed is clients", bare(servers.object.Device))
	}
	clients.object.Side = ClientSide
	p.config.Tap, p.config.ServerTap = &clients.object, &servers.object
}

// serverTap is the device that servers are on which connections are forwarded
// to; nil if there is none.
func (c *Config) serverTap() *Tap {
	switch {
	case c.ServerTap != nil:
		return c.ServerTap
	case c.Tap != nil && c.Tap.Side == BothSides:
		return c.Tap
	}
	return nil
}

// taps are the devices that there are.
func (c *Config) taps() (list []*Tap) {
	for _, t := range []*Tap{c.Tap, c.ServerTap} {
		if t != nil {
			list = append(list, t)
		}
	}
	return list
}

// tapsChanged says what differs of the devices. Whether there are two decides
// what is on the first.
func tapsChanged(old, next *Config) Mistakes {
	was, is := old.Tap, next.Tap
	if was != nil && is != nil && (old.ServerTap == nil) != (next.ServerTap == nil) {
		is = is.clone()
		is.Side = was.Side
	}
	return append(tapChanged(was, is), tapChanged(old.ServerTap, next.ServerTap)...)
}

func tapChanged(old, next *Tap) Mistakes {
	const text = "-tap %s: can't %s while it runs; allowed is %s, or a restart"
	switch {
	case old == nil && next == nil:
		return nil
	case old == nil:
		return Mistakes{fmt.Sprintf(text, quote(next.Device), "be added", "none")}
	case next == nil:
		return Mistakes{fmt.Sprintf(text, quote(old.Device), "be taken away", "to keep it")}
	}
	return differing(object{flagTap, next.Device}, tapKeys, old, next, "")
}
