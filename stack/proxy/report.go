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
	dialled := c.pair != 0 && c.state != refusing
	if c.state == refusing {
		granted = w.pairs.At(c.pair).granted // when it was refused
	}
	if dialled {
		p := w.pairs.At(c.pair)
		e.Member = int(p.path.Member)
		e.Up, e.Down = p.up.Bytes, p.down.Bytes
		granted = p.granted
		if p.connected != 0 {
			e.Connect = time.Duration(p.connected - p.granted)
		}
	}
	if c.position > 0 {
		e.Wait = time.Duration(granted - c.accepted)
		e.Left = leftAs(code, dialled)
	}
	w.p.cfg.Ended(w.index, e)
}

// leftAs says how a connection that was parked left the queue.
func leftAs(code Code, dialled bool) string {
	switch code {
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
