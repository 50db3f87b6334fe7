package tap

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// FuzzPort runs a program of frames, times and decisions. Whatever they are,
// nothing is read behind a frame, the port's books are right after each step, who
// is connected was released, and each release has one end.
func FuzzPort(f *testing.F) {
	for _, s := range []string{
		"ssst", "sRaaad", "sRr", "sRaf", "pecaRaaad", "pesSr", "pecafRa", "sNsRaX", "PsPsPsttttttt",
		"SRSRSRaS", "sLsoslRs", "sDsRa", "qsRa6sRa", "sFtG", "pecttttttttRaG", "sRNaa", "sRarRsNRaa", "pecNrcRaaGtta",
		"uhsuk", "sxRaxdx", "sWRaWd", "sYsRaYd", "hhhhsRaf", "1s2s3sRRR1a2a3aXXX", "pecRaaddfHa",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		r := newRig(t, handshakes(20))
		r.listen(web6, Virtual{Listen: at6, Share: 10})
		m := &machine{r: r, program: program[:min(len(program), 200)]}
		for n := range uint16(8) {
			m.clients = append(m.clients, r.client(n))
		}
		m.c = m.clients[0]
		for m.step() {
			m.hear()
			r.audit()
		}
		r.empty(r.now)
		r.turn()
		r.empty(r.now)
		for _, c := range m.clients {
			if n := r.shares.Held(&c.f.Src); n != 0 {
				t.Fatalf("%d shares are left", n)
			}
		}
		if len(r.sessions) != 0 {
			t.Fatalf("sessions %v have no end", r.sessions)
		}
	})
}

// machine runs a program.
type machine struct {
	r       *rig
	program []byte
	clients []*client
	c       *client // who acts
	last    []byte  // frame
}

func (m *machine) next() (b byte) {
	if len(m.program) > 0 {
		b, m.program = m.program[0], m.program[1:]
	}
	return b
}

// step is one instruction. What is none chooses a client.
func (m *machine) step() bool {
	if len(m.program) == 0 {
		return false
	}
	r, c := m.r, m.c
	op := m.next()
	switch op {
	case 's':
		m.send(frame.SYN, 0, 0, "")
	case 'a', 'c':
		m.send(frame.ACK, 1, 0, "")
	case 'e': // only hears
	case 'd':
		m.send(frame.ACK|frame.PSH, 1, 0, "data")
	case 'f':
		m.send(frame.FIN|frame.ACK, 1, 0, "")
	case 'r':
		m.send(frame.RST, 1, 0, "")
	case 'S':
		m.send(m.next(), uint32(int8(m.next())), uint32(int8(m.next())), "")
	case 'N':
		c.seq += 1 << 20
		m.send(frame.SYN, 0, 0, "")
	case 'h':
		c.opts = frame.Options{WS: int8(m.next()%16) - 1, MSS: uint16(m.next()) << 3, TS: m.next()&1 != 0}
	case 'q':
		*c = *r.client6(c.f.SrcPort - 20000)
	case 'x': // the last frame, changed
		b := bytes.Clone(m.last)
		if len(b) > 0 {
			b[int(m.next())%len(b)] = m.next()
		}
		m.take(b, device.VNet{})
	case 'u': // cut off
		m.take(m.last[:min(int(m.next()), len(m.last))], device.VNet{})
	case 'k': // its checksum is not to be looked at
		b := bytes.Clone(m.last)
		if len(b) > 0 {
			b[int(m.next())%len(b)] ^= m.next()
		}
		m.take(b, device.VNet{Flags: device.DataValid})
	case 't':
		r.pass(time.Second)
	case 'T':
		r.pass(time.Duration(m.next()) * 100 * time.Millisecond)
	default:
		m.decide(op)
	}
	return true
}

// decide is what an owner does.
func (m *machine) decide(op byte) {
	r := m.r
	switch op {
	case 'R':
		if i := m.record(Parked); i != 0 {
			r.release(i, r.now)
		}
	case 'F':
		if i := m.record(Parked); i != 0 {
			r.refuse(i)
		}
	case 'D':
		r.departs = !r.departs
	case 'Y':
		if i := m.record(Departed); i != 0 {
			r.free(i)
		}
	case 'G':
		if i := m.record(Released); i != 0 {
			r.giveUp(r.Record(i).Slot, r.now)
		}
	case 'W':
		d := decision(m.next() % 4)
		r.decide = func(uint32) decision { return d }
	case 'X', 'H':
		for n := range uint32(16) {
			if _, ok := r.conns[n]; ok {
				r.hangup(n, op == 'X', r.now)
				break
			}
		}
	case 'p', 'P', 'o':
		v := Virtual{Proof: map[byte]Proof{'p': ProofAlways, 'P': ProofAuto, 'o': ProofOff}[op], Share: int(m.next() % 101)}
		r.Change(web, v)
		r.Change(web6, v)
	case 'l':
		r.Shut(web)
	case 'L':
		r.Listen(web, Virtual{Listen: []netip.AddrPort{at4, other4}[m.next()%2]})
	case 'Z':
		r.Drain()
	default:
		m.c = m.clients[int(op)%len(m.clients)]
	}
}

// record finds one in a state, always the same one.
func (m *machine) record(state uint8) uint32 {
	for i := range uint32(64) {
		if s, ok := m.r.records[i+1]; ok && s == state {
			return i + 1
		}
	}
	return 0
}

// send sends a segment whose numbers are off by so much.
func (m *machine) send(flags uint8, seq, ack uint32, data string) {
	d := *m.c
	d.seq, d.ack = d.seq+seq, d.ack+ack
	m.last = d.segment(flags, data)
	m.take(bytes.Clone(m.last), device.VNet{})
}

// take has the port take a frame that nothing lies behind.
func (m *machine) take(b []byte, h device.VNet) {
	p := m.r.Port
	head, _ := p.net.Room()
	n := copy(head, b)
	p.take(&segment{b: bytes.Clone(b[:n])[:n:n], n: n, h: &h}, m.r.now)
	m.r.turn()
}

// hear has all clients learn what they were sent.
func (m *machine) hear() {
	for _, c := range m.clients {
		for b := m.r.take(c); b != nil; b = m.r.take(c) {
			var p frame.Packet
			if p.Parse(b, frame.MAC(b[:6])) == frame.TCP && !p.Has(frame.RST) {
				c.ack = p.Seq + p.Len()
				c.opts.TSEcr = p.Options(b).TSVal
			}
		}
	}
	m.r.unread = nil
}
