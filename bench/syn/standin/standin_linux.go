package standin

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"penstock/bench/wire"
)

// Config says what it does.
type Config struct {
	Device  string         // a TAP device, with several queues; made if it is not there
	Address netip.AddrPort // that clients connect to
	Limit   int            // who may be connected at a time

	// Answer is the response to what one segment brought. Then the connection is
	// closed.
	Answer func(request []byte) (response []byte)
}

// MAC is its own.
var MAC = wire.MAC{2, 0x5a, 0, 0, 0, 1}

// Proxy is one at work.
type Proxy struct {
	cfg  Config
	own  wire.Flow
	file *os.File

	mu      sync.Mutex
	clients map[wire.Flow]*client
	waiting []wire.Flow
	free    int
	counts  Counts
}

// Counts are what it has done. Left are who reset before they were released, Bad
// SYNs with a wrong checksum.
type Counts struct{ Parked, Again, Released, Served, Left, Bad int }

// client is one that waits, or that was released.
type client struct {
	mac      wire.MAC
	released bool
	first    uint32 // its sequence number
	stamp    uint32
	seq      uint32 // next of ours
	ack      uint32 // next of its
	asked    bool
	busy     bool // its answer is under way, and the slot in use whether it is there or not
}

// New attaches to the device, in the network of the calling thread.
func New(cfg Config) (*Proxy, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	ifr, err := unix.NewIfreq(cfg.Device)
	if err == nil {
		ifr.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_MULTI_QUEUE)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("TAP device %s: %w", cfg.Device, err)
	}
	return &Proxy{
		cfg: cfg, own: wire.FlowOf(cfg.Address), file: os.NewFile(uintptr(fd), cfg.Device),
		clients: map[wire.Flow]*client{}, free: cfg.Limit,
	}, nil
}

// Run works until ctx is done.
func (p *Proxy) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { p.file.Close() })()
	b := make([]byte, 1<<16)
	for {
		n, err := p.file.Read(b)
		if err != nil {
			return
		}
		p.frame(b[:n])
	}
}

// Counts are those until now.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Waiting is how many wait, and how many are connected.
func (p *Proxy) Waiting() (waiting, connected int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting), p.cfg.Limit - p.free
}

func (p *Proxy) frame(b []byte) {
	if reply, ok := p.arp(b); ok {
		p.file.Write(reply)
		return
	}
	h, ok := wire.Read(b)
	if !ok || h.To != p.own {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clients[h.From]
	switch {
	case h.Flags == wire.SYN && (c == nil || c.first != h.Seq):
		if !wire.Sound(b) {
			p.counts.Bad++
			return
		}
		p.clients[h.From] = &client{mac: h.Sender, first: h.Seq, stamp: h.Stamp, ack: h.Seq + 1, seq: ^h.Seq}
		p.waiting = append(p.waiting, h.From)
		p.counts.Parked++
		p.serve()
	case c == nil:
	case h.Flags == wire.SYN:
		c.stamp = h.Stamp
		p.counts.Again++
	case h.Flags&wire.RST != 0:
		p.leave(h.From, c)
	case c.released:
		p.segment(&h, c)
	}
}

// serve releases who may be.
func (p *Proxy) serve() {
	for p.free > 0 && len(p.waiting) > 0 {
		from := p.waiting[0]
		p.waiting = p.waiting[1:]
		if c := p.clients[from]; c != nil {
			p.free--
			p.counts.Released++
			c.released = true
			p.send(from, c, wire.SYN|wire.ACK, nil)
			c.seq++
		}
	}
}

func (p *Proxy) leave(from wire.Flow, c *client) {
	delete(p.clients, from)
	if !c.released {
		p.counts.Left++
		return
	}
	if !c.busy {
		p.free++
		p.serve()
	}
}

// segment is for who is connected.
func (p *Proxy) segment(h *wire.Heard, c *client) {
	if h.Seq != c.ack {
		return
	}
	c.stamp = h.Stamp
	c.ack += uint32(h.Length)
	if h.Length > 0 && !c.asked {
		c.asked, c.busy = true, true
		go p.answer(h.From, c, append([]byte(nil), h.Payload...))
	}
	if h.Flags&wire.FIN != 0 {
		c.ack++
		p.send(h.From, c, wire.ACK, nil)
		p.leave(h.From, c)
	}
}

func (p *Proxy) answer(from wire.Flow, c *client, request []byte) {
	response := p.cfg.Answer(request)
	p.mu.Lock()
	defer p.mu.Unlock()
	c.busy = false
	if p.clients[from] != c {
		p.free++
		p.serve()
		return
	}
	p.counts.Served++
	p.send(from, c, wire.ACK|wire.PSH|wire.FIN, response)
	c.seq += uint32(len(response)) + 1
}

func (p *Proxy) send(to wire.Flow, c *client, flags byte, payload []byte) {
	const window = 65000
	s := wire.Segment{From: p.own, To: to, Seq: c.seq, Ack: c.ack, Flags: flags, Window: window, Stamped: true, Stamp: 1, Echo: c.stamp}
	b := make([]byte, s.Size()+len(payload))
	copy(b[s.Size():], payload)
	wire.NewScribe(MAC, c.mac).Write(b, &s)
	p.file.Write(b)
}

// arp answers who asks for its address.
func (p *Proxy) arp(b []byte) (reply []byte, ok bool) {
	const body, size = wire.HeaderSize, wire.HeaderSize + 28
	if len(b) < size || binary.BigEndian.Uint16(b[12:]) != unix.ETH_P_ARP || b[body+7] != 1 ||
		netip.AddrFrom4([4]byte(b[body+24:])) != p.cfg.Address.Addr() {
		return nil, false
	}
	reply = append(reply, b[6:12]...)
	reply = append(append(reply, MAC[:]...), b[12:body+7]...)
	reply = append(append(append(reply, 2), MAC[:]...), b[body+24:body+28]...)
	return append(reply, b[body+8:body+18]...), true
}
