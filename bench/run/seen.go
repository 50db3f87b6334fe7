package run

import (
	"fmt"
	"slices"

	"penstock/bench/peer"
	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/scenario"
	"penstock/bench/tally"
)

// seen is all that was seen in one play. It is read only: what it comes to is
// computed from it and from nothing else.
type seen struct {
	c       *scenario.Case
	proxied bool // there was a proxy
	clients []clientSaw
	servers []tally.Server // of each copy those of the case, in order
	span    measured
	grown   proc.Size        // of the proxies, with those who stood first
	later   proc.Size        // ... with those who came last
	known   *peer.Handshakes // that generators made, to the proxies; nil: they were not asked
	left    int64            // connections at servers after the time to settle
}

type clientSaw struct {
	line *scenario.Client
	late bool // it came last
	tally.Client
}

func (c *clientSaw) holds() bool { return c.line.Holds() }

// open says that arrivals decide when it connects, and not its own connections.
func (c *clientSaw) open() bool { return c.line.Config.Open() }

// round is what the play comes to. It is an error if clients or servers were at
// fault themselves, or if nothing was done.
func (s *seen) round() (result.Round, error) {
	outcomes := s.outcomes()
	if err := s.faults(&outcomes); err != nil {
		return result.Round{}, err
	}
	r := result.Round{
		Outcomes: outcomes,
		Verdict:  s.verdict(&outcomes),
		Order:    s.order(),
		Cores:    s.cores(),
		Latency:  s.latency(""),
		Wait:     s.merge(func(sv *tally.Server) *tally.Histogram { return sv.Wait }),
		Handover: s.merge(func(sv *tally.Server) *tally.Histogram { return sv.Handover }),
		Release:  s.handshakes().Release,
		Lag99:    s.lag().Percentile(99),
		First:    s.first(),
	}
	r.Waiting, r.InUse = s.series()
	r.Figures = s.figures(&r)
	return r, nil
}

// faults are those of clients and servers.
func (s *seen) faults(outcomes *tally.Outcomes) error {
	if n := outcomes[tally.Local]; n > 0 {
		return fmt.Errorf("clients could not make %d connections: %s", n, s.cause())
	}
	for i := range s.servers {
		for _, m := range s.servers[i].Members {
			if m.Starved > 0 {
				return fmt.Errorf("server %s could not accept, for want of descriptors or memory", m.Address)
			}
		}
	}
	made := s.handshakes()
	if made.Missed > 0 && !s.floods() { // who floods is deaf
		return fmt.Errorf("%d frames came faster than the generator reads them", made.Missed)
	}
	if made.Bad > 0 {
		return fmt.Errorf("%d frames came with a wrong checksum", made.Bad)
	}
	if outcomes.Sum() == 0 && s.bytes() == 0 && made.Sent == 0 {
		return fmt.Errorf("nothing was done in the measured time: %s", s.cause())
	}
	return nil
}

// cause is what the first client with something to say says of its first loss.
func (s *seen) cause() string {
	for _, c := range s.clients {
		if c.Cause != "" {
			return c.Cause
		}
	}
	return "no cause is known"
}

// outcomes are those of all clients; of holders only if there is nobody else.
func (s *seen) outcomes() (sum tally.Outcomes) {
	alone := !slices.ContainsFunc(s.clients, func(c clientSaw) bool { return !c.holds() })
	for i := range s.clients {
		c := &s.clients[i]
		part := c.Outcomes
		if c.holds() && !alone {
			part[tally.Served] = 0 // they only stood, but what was lost of them is lost
		}
		sum.Add(&part)
	}
	return sum
}

func (s *seen) bytes() (n uint64) {
	for i := range s.clients {
		n += s.clients[i].Received + s.clients[i].Sent
	}
	return n
}

// verdict counts what must not happen, each connection in one field only: one
// that waits to the end is stranded and not lost.
func (s *seen) verdict(outcomes *tally.Outcomes) (v result.Verdict) {
	allowed := append([]tally.Outcome{tally.Served, tally.GaveUp}, s.c.Allow...)
	for o, n := range outcomes {
		switch o := tally.Outcome(o); {
		case slices.Contains(allowed, o):
		case o == tally.Overdue:
			v.Stranded += int64(n)
		default:
			v.Lost += int64(n)
		}
	}
	v.Stranded += s.left
	for i := range s.servers {
		for _, m := range s.servers[i].Members {
			v.Overshoots += m.Overshoots
		}
		if s.c.Servers[i%len(s.c.Servers)].Config.Fifo > 0 { // else order is not judged
			v.Overtaken += s.servers[i].Order.Far
		}
	}
	v.Ghosts = max(s.ghosts()-int64(s.c.Ghosts), 0)
	for i := range s.clients {
		v.Late += int64(s.clients[i].Late)
	}
	return v
}

func (s *seen) ghosts() (n int64) {
	for i := range s.servers {
		for _, m := range s.servers[i].Members {
			n += m.Ghosts
		}
	}
	return n
}

// order is of all servers: numbers are added up, distances the most of any.
func (s *seen) order() (sum tally.Order) {
	for i := range s.servers {
		o := &s.servers[i].Order
		sum.Tokens += o.Tokens
		sum.Overtaken += o.Overtaken
		sum.Inversions += o.Inversions
		sum.Far += o.Far
		sum.Dropped += o.Dropped
		sum.Places = max(sum.Places, o.Places)
		sum.Behind = max(sum.Behind, o.Behind)
	}
	return sum
}

func (s *seen) cores() (c result.Cores) {
	if t := s.span.seconds; t > 0 {
		c.Proxy, c.Servers, c.Machine = s.span.proxies/t, s.span.servers/t, s.span.machine/t
	}
	for i := range s.clients {
		if cl := &s.clients[i]; cl.Seconds > 0 && !cl.holds() {
			c.Clients += cl.CPU / cl.Seconds
		}
	}
	return c
}

// latency is of the clients of this name, empty of all. Holders have none.
func (s *seen) latency(name string) *tally.Histogram {
	sum := tally.NewHistogram()
	for i := range s.clients {
		if c := &s.clients[i]; !c.holds() && (name == "" || c.line.Name == name) {
			sum.Merge(c.Latency)
		}
	}
	return sum
}

// handshakes are those of all generators.
func (s *seen) handshakes() *tally.Handshakes {
	sum := new(tally.Handshakes)
	for i := range s.clients {
		sum.Add(s.clients[i].Handshakes)
	}
	return sum
}

func (s *seen) lag() *tally.Histogram {
	sum := tally.NewHistogram()
	for i := range s.clients {
		sum.Merge(s.clients[i].Lag)
	}
	return sum
}

func (s *seen) merge(of func(*tally.Server) *tally.Histogram) *tally.Histogram {
	sum := tally.NewHistogram()
	for i := range s.servers {
		sum.Merge(of(&s.servers[i]))
	}
	return sum
}

// series are how many clients are not with a server, and how many are, from the
// first sample of a client to the last. The two ends of a connection are not seen
// in the same instant, so a moment with more at servers than at clients is none
// waiting.
func (s *seen) series() (waiting, inUse tally.Series) {
	var clients, servers tally.Series
	for i := range s.clients {
		clients.Add(s.clients[i].Open)
	}
	for i := range s.servers {
		servers.Add(s.servers[i].Open)
	}
	waiting.Every, inUse.Every = clients.Every, clients.Every
	for i, n := range clients.Values {
		used := servers.At(clients.From + int64(i)*clients.Every)
		waiting.Values = append(waiting.Values, max(n-used, 0))
		inUse.Values = append(inUse.Values, used)
	}
	return waiting, inUse
}

// first are overshoots of all members, each member's in order.
func (s *seen) first() (all []tally.Overshoot) {
	const most = 100
	for i := range s.servers {
		for _, m := range s.servers[i].Members {
			all = append(all, m.First...)
		}
	}
	return all[:min(len(all), most)]
}
