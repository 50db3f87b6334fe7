package reflect

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"penstock/bench/sock"
	"penstock/bench/tally"
	"penstock/bench/wire"
)

const (
	ringSize = 1 << 15 // frames that may come while it does something else: 8 MiB
	burst    = wire.Batch
	longest  = 10 * time.Millisecond // of a wait, to hear of the end
)

// Reflector answers. Made by Listen; Serve runs it once.
type Reflector struct {
	// Constant after Listen.
	cfg    Config
	clock  sock.Clock
	began  int64 // ns
	listen wire.Flow
	own    wire.MAC

	// Owned by Serve.
	tx     *wire.Sender
	rx     *wire.Receiver
	scribe wire.Scribe // to asker
	asker  wire.MAC
	up     map[wire.Flow]struct{} // the clients of connections, for their number; payload is answered without a look
	first  []tally.Overshoot
	peak   int64
	series tally.Series

	// Written by Serve, read by everybody.
	open, accepted, resets, bad, overshoots atomic.Int64

	// Of the time that is counted.
	requests, sent, received atomic.Int64
}

// Listen makes one, whose frames are kept from now on.
func Listen(cfg Config) (*Reflector, error) {
	if err := cfg.complaint(); err != nil {
		return nil, err
	}
	port, err := wire.Find(cfg.Device)
	if err != nil {
		return nil, err
	}
	r := &Reflector{cfg: cfg, clock: sock.NewClock(), listen: wire.FlowOf(cfg.Listen), own: port.MAC, up: map[wire.Flow]struct{}{}}
	r.began = r.clock.Now()
	if r.tx, err = wire.NewSender(port); err != nil {
		return nil, err
	}
	if r.rx, err = wire.NewReceiver(port, wire.ToTCP(cfg.Listen.Addr()), ringSize); err != nil {
		r.tx.Close()
		return nil, err
	}
	return r, nil
}

// Addresses is the one that it answers for.
func (r *Reflector) Addresses() []netip.AddrPort { return []netip.AddrPort{r.cfg.Listen} }

// Count counts requests and bytes anew.
func (r *Reflector) Count() {
	r.requests.Store(0)
	r.sent.Store(0)
	r.received.Store(0)
}

// Pause changes nothing: what clients do at their end says nothing here.
func (r *Reflector) Pause() {}

// Now tells how many connections are open and how many there were.
func (r *Reflector) Now() (open, accepted int64) { return r.open.Load(), r.accepted.Load() }

// Serve answers until ctx is done, and tells what it has seen. That it was too slow,
// or got a wrong checksum, is an error.
func (r *Reflector) Serve(ctx context.Context) (tally.Server, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sock.Punctual()
	defer r.rx.Close()
	defer r.tx.Close()
	for ctx.Err() == nil {
		if err := r.turn(); err != nil {
			return r.sum(), err
		}
	}
	return r.sum(), r.fault()
}

// turn answers what has come, or waits for more.
func (r *Reflector) turn() error {
	n := 0
	for ; n < burst && r.tx.Room(); n++ {
		frame, _, ok := r.rx.Next()
		if !ok {
			break
		}
		r.take(frame)
	}
	r.series.Sample(r.clock.Now(), r.open.Load())
	if n == 0 {
		r.rx.Wait(longest)
	}
	return r.flush()
}

// flush sends all, waiting for room: nobody would send it again.
func (r *Reflector) flush() error {
	const pause, most = 20 * time.Microsecond, 250_000
	for times := 0; ; times++ {
		switch err := r.tx.Flush(); {
		case !errors.Is(err, wire.ErrFull):
			return err
		case times == most:
			return fmt.Errorf("nobody has read from %s for some 5 s", r.cfg.Device)
		}
		time.Sleep(pause)
	}
}

// established counts a connection, once however often its handshake is completed.
func (r *Reflector) established(client wire.Flow) {
	if _, again := r.up[client]; again {
		return
	}
	r.up[client] = struct{}{}
	r.accepted.Add(1)
	open := r.open.Add(1)
	r.peak = max(r.peak, open)
	if r.cfg.Limit == 0 || open <= int64(r.cfg.Limit) {
		return
	}
	const most = 100
	if r.overshoots.Add(1); len(r.first) < most {
		r.first = append(r.first, tally.Overshoot{At: r.clock.Now() - r.began, Open: open})
	}
}

// over ends a connection, if it has not ended.
func (r *Reflector) over(client wire.Flow) (was bool) {
	if _, was = r.up[client]; was {
		delete(r.up, client)
		r.open.Add(-1)
	}
	return was
}

// stamp is of our clock, ms.
func (r *Reflector) stamp() uint32 { return uint32((r.clock.Now() - r.began) / 1e6) }

// fault is what makes all that was seen worth nothing.
func (r *Reflector) fault() error {
	if n := r.bad.Load(); n > 0 {
		return fmt.Errorf("%d frames had a wrong checksum", n)
	}
	if n := r.rx.Missed(); n > 0 {
		return fmt.Errorf("%d frames came faster than the reflector reads them", n)
	}
	return nil
}

func (r *Reflector) sum() tally.Server {
	return tally.Server{
		Members: []tally.Member{{
			Address: r.cfg.Listen.String(), Limit: int64(r.cfg.Limit), Accepted: r.accepted.Load(), MaxOpen: r.peak,
			Open: r.open.Load(), Resets: r.resets.Load(), Overshoots: r.overshoots.Load(), First: r.first,
		}},
		Requests: r.requests.Load(), Sent: r.sent.Load(), Received: r.received.Load(),
		Wait: tally.NewHistogram(), Handover: tally.NewHistogram(), Open: r.series,
	}
}
