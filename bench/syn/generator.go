package syn

import (
	"errors"
	"fmt"
	"math"
	"time"

	"penstock/bench/sock"
	"penstock/bench/tally"
	"penstock/bench/wire"
)

const (
	never = math.MaxInt64

	// ringSize is how many frames may come while the generator does something
	// else: 8 MiB.
	ringSize = 1 << 15

	// burst is how many SYNs are sent, or frames are read, before the other.
	burst = wire.Batch

	// lag is how far behind its rate the generator may be before it gives up to
	// catch up: else a pause would end in a burst that no client would send.
	lag = 5 * time.Millisecond

	// A wait is long enough for some more SYNs to be due, and short enough to
	// hear of the run's end.
	shortest, longest = 100 * time.Microsecond, 10 * time.Millisecond

	windowStart = 64240 // as Linux
	windowLater = 502   // 64256, scaled by 7
)

// generator is one at work: one goroutine owns it all.
type generator struct {
	// Constant after creation.
	cfg    Config
	clock  sock.Clock
	begin  int64 // on the clock; everything is timed from then
	epoch  int64 // the same moment on the clock of frames
	crowd  crowd
	scribe *wire.Scribe
	target wire.Flow

	tx *wire.Sender
	rx *wire.Receiver

	flows   records
	repeats *repeats
	conns   []conn
	unused  []uint32 // of conns
	frees   frees    // slots
	leaving int      // connections whose last frame is queued

	asks      asks   // whose turn it is
	asking    int    // connections that wait for a response
	connected uint64 // connections that are up

	opened   uint32 // handshakes
	standing int    // of them: waiting or up
	paused   int64  // how much the rate was slipped by
	filled   bool   // Flows have been opened once; never by a flood
	counting bool
	tally    tally.Client
}

func newGenerator(cfg Config) (*generator, error) {
	port, err := wire.Find(cfg.Device)
	if err != nil {
		return nil, err
	}
	const soon = 20 * time.Second
	from := newCrowd(cfg.From, 0, 0)
	to, err := wire.Resolve(port, from.flow(0).AddrPort().Addr(), cfg.Target.Addr(), soon)
	if err != nil {
		return nil, err
	}
	return makeGenerator(cfg, port, to)
}

// makeGenerator makes one for a target with this Ethernet address.
func makeGenerator(cfg Config, port wire.Port, to wire.MAC) (g *generator, err error) {
	g = &generator{
		cfg: cfg, clock: sock.NewClock(), crowd: newCrowd(cfg.From, cfg.Seed, uint64(wire.Now())),
		scribe: wire.NewScribe(port.MAC, to), target: wire.FlowOf(cfg.Target), repeats: newRepeats(cfg.Again),
		asks: noAsks(),
	}
	if cfg.Work == Flood {
		g.repeats = newRepeats(None)
	}
	g.tally.Latency, g.tally.Connect, g.tally.Lag = tally.NewHistogram(), tally.NewHistogram(), tally.NewHistogram()
	g.tally.Handshakes = &tally.Handshakes{Release: tally.NewHistogram(), First: tally.NewHistogram()}
	if g.tx, err = wire.NewSender(port); err != nil {
		return nil, err
	}
	if g.rx, err = wire.NewReceiver(port, wire.FromTCP(cfg.Target, cfg.From), ringSize); err != nil {
		g.tx.Close()
		return nil, err
	}
	return g, nil
}

func (g *generator) close() {
	g.tx.Close()
	g.rx.Close()
}

// now is the time since the beginning.
func (g *generator) now() int64 { return g.clock.Now() - g.begin }

// start is when a handshake began.
func (g *generator) start(n uint32) int64 { return int64(g.flows.at(n).start) * 1000 }

// turn does what there is to do, and waits if that was nothing: not longer
// than until a time.
func (g *generator) turn(until int64) error {
	read, err := g.hear()
	if err != nil {
		return err
	}
	now := g.now() // after what was heard: who comes now has not waited for a slot that was freed then
	sent, err := g.speak(now)
	if err != nil || read+sent > 0 {
		return err
	}
	if rest := time.Duration(min(g.due(now), until) - g.now()); rest > 0 {
		g.rx.Wait(min(max(rest, shortest), longest))
	}
	return nil
}

// speak sends the SYNs that are due, and the requests, a burst at most.
func (g *generator) speak(now int64) (sent int, err error) {
	for sent < burst && g.tx.Room() {
		n, again := g.repeats.due(now, g.opened, g.start)
		switch {
		case again && g.flows.at(n).state != waiting:
			continue
		case again:
			g.tally.Handshakes.Again++
			g.syn(n, g.crowd.flow(n), now)
		case g.mayOpen(now):
			g.open(now)
		case g.asks.next() <= now:
			g.askNext(now)
		default:
			return sent, g.flush()
		}
		sent++
	}
	return sent, g.flush()
}

// mayOpen says whether one more handshake is due.
func (g *generator) mayOpen(now int64) bool { return g.opens() && g.next() <= now }

// opens says whether there are to be more handshakes. Who keeps connections has no
// others in place of those that are lost.
func (g *generator) opens() bool {
	return g.cfg.Work == Flood || g.standing < g.cfg.Flows && !(g.cfg.Work == Keep && g.filled)
}

// next is when the rate allows one more.
func (g *generator) next() int64 {
	if g.cfg.Rate == 0 {
		return 0
	}
	return g.paused + int64(g.opened)*int64(time.Second)/int64(g.cfg.Rate)
}

// due is when there is a SYN to send.
func (g *generator) due(now int64) int64 {
	at := min(g.repeats.soonest(g.opened, g.start), g.asks.next())
	if g.opens() {
		at = min(at, g.next())
	}
	return at
}

// open begins the next handshake.
func (g *generator) open(now int64) {
	if g.cfg.Rate > 0 {
		late := now - g.next()
		if !g.filled { // else who has ended decides when one comes
			g.tally.Lag.Record(late)
		}
		g.paused += max(late-int64(lag), 0)
	}
	n := g.opened
	g.opened++
	g.tally.Begun++
	g.tally.Handshakes.Sent++
	if g.cfg.Work == Flood {
		g.syn(n, g.crowd.stranger(n), now)
		return
	}
	g.standing++
	g.flows.add(uint32((now + 999) / 1000))
	g.syn(n, g.crowd.flow(n), now)
	if !g.filled && int(g.opened) >= g.cfg.Flows {
		g.filled = true
		g.tally.Handshakes.Filling = float64(now) / 1e9
	}
}

// syn writes a SYN, a first one or one that is sent again.
func (g *generator) syn(n uint32, from wire.Flow, now int64) {
	isn, clock := g.crowd.secrets(n)
	s := wire.Segment{From: from, To: g.target, Seq: isn, Flags: wire.SYN, Window: windowStart, Stamp: clock + stamp(now)}
	g.scribe.Write(g.tx.Next(wire.SYNSize), &s)
}

// stamp is what a client's clock has gone on since the run began: ms.
func stamp(now int64) uint32 { return uint32(now / 1e6) }

// flush sends SYNs. Where the rate is that of the device they wait for room, as
// requests do; else what finds none is dropped, as on every full link.
func (g *generator) flush() error {
	for patience := 0; ; {
		err := g.tx.Flush()
		switch {
		case !errors.Is(err, wire.ErrFull):
			return err
		case g.cfg.Rate > 0 && g.asks.began == never:
			g.tx.Drop()
			g.tally.Handshakes.Dropped++
		default:
			if err := g.wait(&patience); err != nil {
				return err
			}
		}
	}
}

// surely sends what must not be lost, since nobody would send it again.
func (g *generator) surely() error {
	for patience := 0; ; {
		err := g.tx.Flush()
		if !errors.Is(err, wire.ErrFull) {
			return err
		}
		if err := g.wait(&patience); err != nil {
			return err
		}
	}
}

// wait lets somebody read what the device holds.
func (g *generator) wait(times *int) error {
	const pause, most = 20 * time.Microsecond, 250_000
	if *times++; *times > most {
		return fmt.Errorf("nobody has read from %s for some 5 s", g.cfg.Device)
	}
	time.Sleep(pause)
	return nil
}
