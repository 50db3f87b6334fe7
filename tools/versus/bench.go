package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"

	"penstock/bench/load"
)

// bench runs works, one round after the other.
type bench struct {
	options
	dir      string // for files, deleted at the end
	penbench string // the load program
	port     uint16 // the last one given out
	progress io.Writer
}

// Figures that every timed work has.
const (
	lostMetric  = "lost"
	proxyCores  = "proxy"
	clientCores = "client"
	serverCores = "server"
)

// address returns an unused one. Ports lie below those that the kernel gives
// to connections, and no two runs share one.
func (b *bench) address() netip.AddrPort {
	for {
		b.port++
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), b.port)
		if l, err := net.Listen("tcp", a.String()); err == nil {
			l.Close()
			return a
		}
	}
}

// row is what one peer did: each metric's figures by round.
type row struct {
	Peer    string               `json:"peer"`
	Figures map[string][]float64 `json:"figures"`
	Failure string               `json:"failure,omitempty"` // it does no more rounds after one
}

func (r *row) add(f figures) {
	for name, x := range f {
		r.Figures[name] = append(r.Figures[name], x)
	}
}

// peers lists who does a work in every round: penstock first, then HAProxy in
// the ways that matter, then nobody if that says anything.
func (b *bench) peers(w work) []peer {
	ps := []peer{penstock{b.penstock}, haproxy{b.haproxy, ways[0]}}
	if w.bulk {
		for _, other := range ways[1:] {
			ps = append(ps, haproxy{b.haproxy, other})
		}
	}
	if w.client != load.Idle {
		ps = append(ps, direct{})
	}
	return ps
}

// run does all rounds of a work and returns a row for each peer.
func (b *bench) run(ctx context.Context, w work) []*row {
	var rows []*row
	peers := b.peers(w)
	order := make([]int, len(peers))
	for i, p := range peers {
		rows = append(rows, newRow(p))
		order[i] = i
	}
	for round := range b.rounds {
		fmt.Fprintf(b.progress, "\r%s: round %d of %d ", w.name, round+1, b.rounds)
		for _, i := range order {
			b.once(ctx, w, peers[i], rows[i])
		}
		slices.Reverse(order)
	}
	fmt.Fprintf(b.progress, "\r%40s\r", "")
	return rows
}

func newRow(p peer) *row { return &row{Peer: p.Name(), Figures: map[string][]float64{}} }

// once does one round of one peer, unless it has failed before.
func (b *bench) once(ctx context.Context, w work, p peer, r *row) {
	if r.Failure != "" || ctx.Err() != nil {
		return
	}
	s, err := stage(ctx, b, w, p)
	defer s.strike()
	var f figures
	if err == nil {
		f, err = w.measure(ctx, s)
	}
	if err != nil {
		r.Failure = err.Error()
		return
	}
	r.add(f)
}
