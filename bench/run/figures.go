package run

import (
	"slices"

	"penstock/bench/client"
	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/scenario"
	"penstock/bench/tally"
)

// figures are those of the scenario's metrics that there are: without a proxy
// there is none of its CPU time or memory. All are computed, and kept, whether
// the scenario shows them or not; only a client's own is by its name.
func (s *seen) figures(r *result.Round) map[string]float64 {
	f := map[string]float64{}
	s.rates(f, r)
	s.times(f, r)
	s.shares(f, r)
	s.syns(f, r)
	if s.proxied && s.c.Memory != "" {
		s.sizes(f)
	}
	return f
}

// rates are what was done in a second, and what it cost the proxy.
func (s *seen) rates(f map[string]float64, r *result.Round) {
	served, bytes := s.perSecond()
	unit := "conn"
	if s.kept() {
		unit = "req"
	}
	const giga = 1e9
	f[unit+"/s"] = served
	f["Gb/s"] = bytes * 8 / giga
	if s.proxied && served > 0 {
		f["CPU µs/"+unit] = r.Cores.Proxy / served * 1e6
	}
	if served > 0 {
		f["machine µs/"+unit] = r.Cores.Machine / served * 1e6
	}
	if s.proxied && bytes > 0 {
		f["CPU s/GB"] = r.Cores.Proxy / (bytes / giga)
	}
	if bytes > 0 {
		f["machine s/GB"] = r.Cores.Machine / (bytes / giga)
	}
	if capacity := s.capacity(); capacity > 0 {
		f["of capacity %"] = 100 * served / capacity
	}
}

// perSecond adds up what the clients did in a second of each one's own time.
func (s *seen) perSecond() (served, bytes float64) {
	for i := range s.clients {
		c := &s.clients[i]
		if c.holds() || c.Seconds <= 0 {
			continue
		}
		served += float64(c.Outcomes[tally.Served]) / c.Seconds
		bytes += float64(c.Received+c.Sent) / c.Seconds
	}
	return served, bytes
}

// kept says whether requests are counted, and not connections.
func (s *seen) kept() bool {
	return slices.ContainsFunc(s.clients, func(c clientSaw) bool { return c.line.Config.Work == client.Keep })
}

// capacity is how many connections a second the servers' limits and delays
// allow, 0 if they set no bound. What is held against it is what clients got, and
// not what servers did: a server that works for somebody who has left is busy, and
// its capacity is lost. In the open model that needs -sustain: else those who still
// wait when the measured time is over are served of the capacity after it.
func (s *seen) capacity() (sum float64) {
	for i := range s.c.Servers {
		cfg := &s.c.Servers[i].Config
		delay := cfg.Delay.Mean().Seconds()
		if cfg.Limit == 0 || delay == 0 {
			return 0
		}
		sum += float64(cfg.Limit*max(s.c.Members, 1)) / delay
	}
	return sum * float64(max(s.c.Copies, 1))
}

// times are percentiles, if there is anything that they are of.
func (s *seen) times(f map[string]float64, r *result.Round) {
	put := func(h *tally.Histogram, unit float64, names map[string]float64) {
		for name, p := range names {
			if h.Count() > 0 {
				f[name] = h.Percentile(p) / unit
			}
		}
	}
	const milli, micro = 1000, 1 // in µs
	put(r.Latency, milli, map[string]float64{"p50 ms": 50, "p99 ms": 99, "p99.9 ms": 99.9})
	put(r.Wait, milli, map[string]float64{"wait p50 ms": 50, "wait p99 ms": 99})
	put(r.Handover, micro, map[string]float64{"handover p50 µs": 50, "handover p99 µs": 99})
	put(s.lag(), micro, map[string]float64{"lag p99 µs": 99})
	for i := range s.c.Clients {
		if name := s.c.Clients[i].Name; name != "" {
			put(s.latency(name), milli, map[string]float64{"p99 ms " + name: 99})
		}
	}
}

// shares are parts of what was due or came.
func (s *seen) shares(f map[string]float64, r *result.Round) {
	if sum := float64(r.Outcomes.Sum()); sum > 0 {
		f["served %"] = 100 * float64(r.Outcomes[tally.Served]) / sum
		f["gave up %"] = 100 * float64(r.Outcomes[tally.GaveUp]) / sum
	}
	if n := float64(r.Order.Tokens); n > 0 {
		f["overtaken %"] = 100 * float64(r.Order.Far) / n
		f["behind ms"] = float64(r.Order.Behind) / 1e6
	}
	f["ghosts"] = float64(s.ghosts())
	if x, ok := s.fairness(); ok {
		f["fairness"] = x
	}
}

// sizes are what the proxy grew by for each client that stood to the end: those
// that it refused cost it nothing.
func (s *seen) sizes(f map[string]float64) {
	s.size(f, s.c.Memory, s.grown, s.stood(false))
	s.size(f, s.c.Later, s.later, s.stood(true))
}

// size is of n clients that stood, of which some may be served. How many are parked
// in mid-handshake the proxy itself has counted.
func (s *seen) size(f map[string]float64, what string, grown proc.Size, n int) {
	who := "pair"
	if what == "parked" {
		who = "client"
		if n -= slots(s.c); s.known != nil {
			n = int(s.known.Parked)
		}
	}
	if n > 0 && what != "" {
		f["B/"+who] = float64(grown.Memory) / float64(n)
		f["fds/"+who] = float64(grown.Descriptors) / float64(n)
	}
}

// stood are the clients that did to the end, first or last; of those that are kept,
// who was there in the beginning.
func (s *seen) stood(late bool) (n int) {
	for i := range s.clients {
		switch c := &s.clients[i]; {
		case c.late != late:
		case c.holds():
			n += int(c.Outcomes[tally.Served])
		case c.line.Keeps():
			n += int(c.Handshakes.Stood)
		}
	}
	return n
}

// slots are how many connections all servers of a case may have at a time.
func slots(c *scenario.Case) (n int) {
	for i := range c.Servers {
		n += c.Servers[i].Config.Limit * max(c.Members, 1)
	}
	return n * max(c.Copies, 1)
}

// fairness is Jain's index of what each client process got of its due share: 1
// if all got the same part of theirs, 1/n if one of n got all. The shares are
// max-min fair: nobody is due more than it asked for, and what one does not ask
// for the others share equally. A client of the closed model asks for all that it
// can get.
func (s *seen) fairness() (index float64, ok bool) {
	var asked, got []float64
	for i := range s.clients {
		c := &s.clients[i]
		if c.holds() {
			continue
		}
		got = append(got, float64(c.Outcomes[tally.Served]))
		if c.open() {
			asked = append(asked, float64(c.Outcomes.Sum()))
		} else {
			asked = append(asked, unbounded)
		}
	}
	if len(got) < 2 {
		return 0, false
	}
	var parts []float64
	for i, share := range maxMin(asked, total(got)) {
		if share > 0 {
			parts = append(parts, got[i]/share)
		}
	}
	return jain(parts), len(parts) > 1
}
