package tap

import (
	"bytes"
	"net/netip"
	"testing"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// FuzzForward runs a program of frames of both sides, times and decisions through a
// Port that forwards. Whatever they are, the books are right after each step: each
// flow that began has one end, and nothing is left when all have.
func FuzzForward(f *testing.F) {
	for _, s := range []string{
		"*s(aadf]a", "*s(a{", "*s(ar)(", "*s{*R", "*stttttt*", "s*s(a)d[f)]attt", "*s(a1s(a2s(a+++", "*s-*", "*s!*s(a!", "*s(arttttttttt",
		"*s(aNs(aNs(a", "*s(af]aNs(af]attt", "*s<abc(a<def", "pe*sca(ca[d", "pescar(d", "*s~ab(~cd a~ef", "*s(adtttttttttttttttttttttttttttttttttt",
		"*q1qs(1s(aa", "*s(asdsas)(", "*ssttt(*r~\x80 \x15", "*s(a]fa)(", "*s(a]a<fzz", "*sttt(attttt", "*sr(tttt", "*sNss(a", "Zs", "*slL",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, program []byte, own bool) {
		v := Virtual{SNAT: []netip.Addr{snat4}, Idle: 20e9, HalfClose: 5e9}
		v6 := Virtual{Listen: at6, Forward: true, SNAT: []netip.Addr{snat6}}
		if own {
			v.SNAT, v6.SNAT = nil, nil
		}
		r := newForward(t, v, handshakes(20), func(c *Config) { c.Flows = 10 })
		r.listen(web6, v6)
		r.decide = nil
		m := &player{machine: machine{r: r, program: program[:min(len(program), 200)]}, servers: map[uint16]*peer{}}
		for n := range uint16(8) {
			m.clients = append(m.clients, r.client(n))
		}
		m.c = m.clients[0]
		for m.play() {
			m.hear()
			m.hearServers()
			r.audit()
		}
		for range 2 {
			r.empty(r.now)
			r.turn()
		}
		r.pass(200e9)
		r.empty(r.now)
		r.audit()
		if n := r.fwd.flows.Len(); n != 0 {
			t.Fatalf("%d flows are left", n)
		}
		if n := r.fwd.attempts.slab.Len(); n != 0 {
			t.Fatalf("%d attempts are left", n)
		}
		for s := range r.fwd.servers {
			for a, p := range r.fwd.servers[s].pools {
				if n := p.InUse(); n != 0 {
					t.Fatalf("%d ports of %v are in use", n, netip.AddrFrom16(a))
				}
			}
		}
	})
}

// player runs a program with servers in it.
type player struct {
	machine
	servers map[uint16]*peer // by the port that they see
	s       *peer            // who acts
	down    []byte           // the last frame of a server
}

// play is one instruction. What is none of a server's is the machine's.
func (m *player) play() bool {
	if len(m.program) == 0 {
		return false
	}
	op := m.program[0]
	r, s := m.r, m.s
	switch op {
	case '(', ')', '[', ']', '{', '<':
		if s == nil {
			s = &peer{r: r, f: frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: server4.Addr().As16(), SrcPort: server4.Port(), Dst: snat4.As16(), DstPort: 1025}}
		}
	}
	m.next()
	switch op {
	case '*':
		if i := m.record(Parked); i != 0 {
			m.aim(i)
			r.forward(i, r.now)
		} else {
			r.decide = func(i uint32) decision {
				m.aim(i)
				return toForward
			}
		}
	case '(':
		m.serve(s, frame.SYN|frame.ACK, "")
		s.seq++
	case ')':
		m.serve(s, frame.ACK, "")
	case '[':
		m.serve(s, frame.ACK, "data")
		s.seq += 4
	case ']':
		m.serve(s, frame.FIN|frame.ACK, "")
		s.seq++
	case '{':
		m.serve(s, frame.RST|frame.ACK, "")
	case '<':
		d := *s
		flags := m.next()
		d.seq += uint32(int8(m.next()))
		d.ack += uint32(int8(m.next()))
		m.serve(&d, flags, "")
	case '~':
		b := bytes.Clone(m.down)
		if len(b) > 0 {
			b[int(m.next())%len(b)] ^= m.next()
		}
		r.behind.SendMarked(b, device.VNet{Flags: device.DataValid})
		r.turn()
	case '!':
		m.icmp()
	case '+', '-':
		for n := range r.flows {
			if op == '+' {
				r.cut(n, r.now)
			} else {
				r.recallFlow(n, r.now)
			}
			break
		}
	case '0', '5', '6', '7', '8', '9':
		m.s = m.servers[uint16(op)]
	default:
		m.program = append([]byte{op}, m.program...)
		return m.step()
	}
	return true
}

// aim has a client go to a server of its family.
func (m *player) aim(i uint32) {
	m.r.owner.to = server4
	if k := m.r.Peer(i); !frame.Is4(&k.Addr) {
		m.r.owner.to = server6
	}
}

func (m *player) serve(s *peer, flags uint8, data string) {
	h := frame.Header{Seq: s.seq, Ack: s.ack, Flags: flags, Window: 60000, Options: &s.opts}
	m.down = frame.AppendTCP(nil, &s.f, &h, []byte(data))
	m.r.behind.Send(bytes.Clone(m.down))
	m.r.turn()
}

// hearServers has servers learn what they were sent.
func (m *player) hearServers() {
	for {
		p, b := m.r.takeServer()
		if b == nil {
			return
		}
		s := m.servers[p.SrcPort]
		if p.Flags == frame.SYN || s == nil {
			s = &peer{r: m.r, seq: p.Seq + 5000, opts: frame.Options{MSS: 1400, WS: 3, TS: true, TSVal: 5}}
			s.f = p.Reply(ether.Router)
			s.f.DstMAC = ether.Own
			m.servers[p.SrcPort] = s
		}
		m.s = s
		if !p.Has(frame.RST) {
			s.ack = p.Seq + p.Len()
		}
	}
}

// icmp has a router complain about the last frame that a server was sent.
func (m *player) icmp() {
	if m.s == nil {
		return
	}
	b := frame.AppendTCP(nil, &frame.Flow{
		SrcMAC: ether.Own, DstMAC: ether.Router, Src: m.s.f.Dst, SrcPort: m.s.f.DstPort, Dst: m.s.f.Src, DstPort: m.s.f.SrcPort,
	}, &frame.Header{Seq: m.s.ack - 1, Flags: frame.SYN}, nil)
	m.r.behind.Send(quoting(b))
	m.r.turn()
}
