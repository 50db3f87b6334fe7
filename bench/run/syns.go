package run

import (
	"penstock/bench/result"
	"penstock/bench/syn"
	"penstock/bench/tally"
)

// syns are figures of handshakes that generators made.
func (s *seen) syns(f map[string]float64, r *result.Round) {
	made := s.handshakes()
	if made.Sent == 0 {
		return
	}
	begun := s.perSecondBegun()
	if s.known != nil {
		lost := 1 - s.counted(made)/float64(made.Sent)
		f["lost %"] = 100 * lost
		begun *= 1 - lost
	}
	if begun > 0 {
		f["SYN/s"] = begun
	}
	if s.proxied && s.floods() && begun > 0 {
		f["CPU µs/SYN"] = r.Cores.Proxy / begun * 1e6
	}
	s.packets(f, r, made)
	put := func(name string, h *tally.Histogram, p float64) {
		if h.Count() > 0 {
			f[name] = h.Percentile(p)
		}
	}
	put("SYN-ACK p50 µs", made.Release, 50)
	put("SYN-ACK p99 µs", made.Release, 99)
	put("SYN-ACK p99.9 µs", made.Release, 99.9)
	put("first byte p50 µs", made.First, 50)
	put("first byte p99 µs", made.First, 99)
}

// packets are figures of connections that are kept, each of whose segments goes through
// the proxy once.
func (s *seen) packets(f map[string]float64, r *result.Round, made *tally.Handshakes) {
	if made.Stood > 0 {
		f["carried %"] = 100 * float64(made.Carried) / float64(made.Stood)
	}
	var packets float64 // a second
	for i := range s.clients {
		if c := &s.clients[i]; c.line.Keeps() && c.Seconds > 0 {
			packets += float64(c.Handshakes.Segments) / c.Seconds
		}
	}
	if s.proxied && packets > 0 {
		f["CPU µs/packet"] = r.Cores.Proxy / packets * 1e6
	}
}

// counted are the handshakes that the proxy knows of: of those that are held who
// is there in the end, since one that the proxy takes for gone, and that tries
// again, begins once more for it.
func (s *seen) counted(made *tally.Handshakes) float64 {
	if s.stood(false)+s.stood(true) > 0 {
		return float64(s.known.Parked) + float64(made.Answered)
	}
	return float64(s.known.Begun)
}

// perSecondBegun is how many first SYNs a second generators sent: to fill what
// they hold, or flooding. Those who serve one after the other begin as many as
// are served.
func (s *seen) perSecondBegun() (sum float64) {
	for i := range s.clients {
		c := &s.clients[i]
		switch h := c.Handshakes; {
		case h == nil:
		case c.line.Syn.Work == syn.Hold && h.Filling > 0:
			sum += float64(h.Sent) / h.Filling
		case c.line.Syn.Work == syn.Flood && c.Seconds > 0:
			sum += float64(h.Counted) / c.Seconds
		}
	}
	return sum
}

// floods says that all generators do.
func (s *seen) floods() bool {
	for i := range s.clients {
		if g := s.clients[i].line.Syn; g != nil && g.Work != syn.Flood {
			return false
		}
	}
	return true
}
