package proxy

import "time"

// report tells the log how a session ended.
func (w *worker) report(c *client, code Code, closer string, now int64) {
	e := &w.ended // the callee does not keep it
	*e = Ended{
		Accepted: time.Duration(now - c.accepted), Client: c.peer.AddrPort(),
		Virtual: int(c.virtual), Member: -1, Position: int64(c.position),
		Left: "-", Code: code, Closer: closer,
	}
	granted := now
	if c.pair != 0 {
		p := w.pairs.At(c.pair)
		granted = p.granted // or when it was refused
		if p.flags&slotted != 0 {
			e.Member = int(p.path.Member)
			e.Up, e.Down = p.up.Bytes, p.down.Bytes
		}
		if p.connected != 0 {
			e.Connect = time.Duration(p.connected - p.granted)
		}
	}
	if c.position > 0 {
		e.Wait = time.Duration(granted - c.accepted)
		e.Left = leftAs(code, e.Member >= 0)
	} else if code == RefusedEarly {
		e.Left = leftAs(code, false)
	}
	w.p.cfg.Ended(w.index, e)
}

// leftAs says how a connection that was parked left the queue, or was kept out
// of it.
func leftAs(code Code, dialled bool) string {
	switch code {
	case RefusedEarly:
		return "early"
	case Shed:
		return "shed"
	case Flushed:
		return "flushed"
	case QueueTime:
		return "expired"
	case ClientQuit:
		return "abandoned"
	case NoMember, QueueFull:
		return "refused"
	case DialFailed:
		return "failed"
	}
	if !dialled {
		return "cut"
	}
	return "served"
}

// waited is how long a client waited for its slot; 0 if it was not parked.
func waited(c *client, p *pair) time.Duration {
	if c.position == 0 {
		return 0
	}
	return time.Duration(p.granted - c.accepted)
}
