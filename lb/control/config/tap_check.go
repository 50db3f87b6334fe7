package config

import (
	"fmt"
	"net/netip"
	"slices"
)

const mostQueues = 256 // of a TAP, one for each loop

// taps checks what the keys of the devices mean together.
func (k *checker) taps() {
	if k.c.Tap == nil {
		return
	}
	if n := k.c.loops(); n > mostQueues {
		k.mistakes = append(k.mistakes, fmt.Sprintf("-loops %q: makes %d loops, and -tap has a queue for each; allowed is 1 to %d with -tap",
			fmt.Sprint(k.c.Loops), n, mostQueues))
	}
	if s := k.c.ServerTap; s != nil && s.Device == k.c.Tap.Device {
		k.wrong(object{flagTap, s.Device}, []Setting{{"dev", s.Device}}, "has clients on it; allowed is another for servers")
		return // what is said of one would be said of the other
	}
	for _, t := range k.c.taps() {
		k.mtu(t)
		k.gateways(t)
	}
}

func (k *checker) mtu(t *Tap) {
	if t.MTU == 0 || t.MTU >= leastV6 {
		return
	}
	six := slices.ContainsFunc(t.Addresses, func(p netip.Prefix) bool { return p.Addr().Is6() }) ||
		slices.ContainsFunc(k.c.Virtuals, func(v Virtual) bool {
			return v.Front == FrontTap && v.Listen.Addr().Is6() && (t != k.c.ServerTap || v.Transport == Forwarded)
		})
	if six {
		k.wrong(object{flagTap, t.Device}, []Setting{{"mtu", fmt.Sprint(t.MTU)}, {Key: "address"}},
			"too small for the IPv6 addresses on it; allowed is 0, or %d to %d", leastV6, mostMTU)
	}
}

// front checks who speaks TCP to the clients of a virtual server, and what
// follows from that.
func (k *checker) front(v *Virtual) {
	o := object{flagVirtual, v.Name}
	refuse := []Setting{{"refuse", v.Refuse.String()}, {Key: "front"}}
	if v.Front == FrontKernel {
		if v.Refuse == RefuseDrop {
			k.wrong(o, refuse, "with front=kernel a client is connected before it can be refused; allowed is reset|close|http-503, or front=tap")
		}
		return
	}
	if k.c.Tap == nil && !k.mistaken(flagTap) {
		k.wrong(o, []Setting{{"front", v.Front.String()}}, "needs a device; allowed is it with -tap NAME, or front=kernel")
	}
	if v.Dual || !oneHost(v.Listen.Addr()) || v.Listen.Port() == 0 {
		k.wrong(o, []Setting{{"listen", listenKey.get(v)}, {Key: "front"}}, "front=tap is for one address; %v", errFront)
	}
	if v.Refuse != RefuseReset && v.Refuse != RefuseDrop {
		k.wrong(o, refuse, "with front=tap a client is not connected yet when it is refused; allowed is reset|drop")
	}
}

// leastUnproven is how many of them may always wait in each loop, and how many
// of one prefix; as stack/tap has it.
const leastUnproven = 16

// unproven says how many clients of a virtual server may wait that have not
// shown that they can hear us; "" if that is not known, or nobody waits.
func (c *Config) unproven(v *Virtual) string {
	loops, depth := c.loops(), c.Depth(v.Pool)
	if v.Front != FrontTap || v.AcceptProxy || loops == 0 || depth == 0 {
		return ""
	}
	room := int64(c.Tap.SynTable) // in a loop
	if depth != Unlimited {
		room = depth / int64(loops)
	}
	part := func(percent int) int64 {
		n := int64(loops) * max(leastUnproven, room*int64(percent)/100)
		if depth != Unlimited {
			n = min(n, depth)
		}
		return n
	}
	prefix := ""
	if v.SynShare > 0 {
		prefix = fmt.Sprintf(", of one prefix %d", part(v.SynShare))
	}
	switch v.SynProof {
	case ProofAuto:
		return fmt.Sprint(part(50)) + prefix
	case ProofAlways:
		return "none"
	}
	return "all" + prefix
}

// Handshakes is how many can be parked at once, over all loops; 0 if it is not
// known how many these are.
func (c *Config) Handshakes() int64 {
	if c.Tap == nil {
		return 0
	}
	return int64(c.Tap.SynTable) * int64(c.loops())
}

// loops is how many there are, 0 if that is not known.
func (c *Config) loops() int {
	if c.Loops > 0 {
		return c.Loops
	}
	return c.Cores
}

// Flows is how many connections can be forwarded at once, over all loops; 0 if
// it is not known how many these are.
func (c *Config) Flows() int64 {
	if c.Tap == nil {
		return 0
	}
	return int64(c.Tap.FlowTable) * int64(c.loops())
}
