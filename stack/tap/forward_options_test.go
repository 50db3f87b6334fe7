package tap

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"penstock/stack/tap/frame"
)

// behindOptions puts extension headers before the TCP header of an IPv6 frame.
func behindOptions(b []byte, kinds ...byte) []byte {
	const next, size, at = linkSize + 6, linkSize + 4, linkSize + 40
	for _, kind := range kinds {
		ext := []byte{b[next], 0, 1, 4, 0, 0, 0, 0} // eight bytes, of which six are padding
		b = append(append(bytes.Clone(b[:at]), ext...), b[at:]...)
		b[next] = kind
		binary.BigEndian.PutUint16(b[size:], binary.BigEndian.Uint16(b[size:])+8)
	}
	return b
}

// What has options is not forwarded, and netstack, which would find a segment of no
// connection behind them, does not reset the client.
func TestForwardBehindOptions(t *testing.T) {
	const hopByHop, routing, fragment, destination = 0, 43, 44, 60
	for name, kinds := range map[string][]byte{
		"destination": {destination}, "hop by hop": {hopByHop}, "both": {destination, hopByHop},
		"routing": {routing}, "many": {destination, destination, destination, hopByHop},
		"in one piece": {fragment}, "a piece with options": {destination, fragment}, "options in a piece": {fragment, destination},
	} {
		t.Run(name, func(t *testing.T) {
			r := newForward(t, Virtual{Listen: at6, SNAT: []netip.Addr{snat6}})
			c := r.client6(1)
			s := c.establish()
			cut := func(b []byte) []byte { // padding of options would say where a piece begins
				for i, k := len(kinds)-1, linkSize+40; i >= 0; i, k = i-1, k+8 {
					if kinds[i] == fragment || kinds[i] == routing {
						clear(b[k+2 : k+8])
					}
				}
				return b
			}
			before := r.totals().Fragments
			r.dev.Send(cut(behindOptions(c.segment(frame.ACK, "behind options"), kinds...)))
			c.none("a segment behind options")
			r.noneServer("a segment behind options")
			c2 := r.client6(2)
			r.dev.Send(cut(behindOptions(c2.segment(frame.SYN, ""), kinds...)))
			c2.none("a SYN behind options")
			if n := r.totals().Fragments - before; n != 2 {
				t.Errorf("%d of 2 are counted", n)
			}
			c.say(s, "plain")
		})
	}
}
