package tally

// Server is what a server has seen. The totals, overshoots and ghosts count
// from its start, the rest from when it was last told to count anew.
type Server struct {
	Members []Member `json:"members"`

	Requests int64 `json:"requests"`
	Sent     int64 `json:"sent"`     // bytes of responses
	Received int64 `json:"received"` // bytes

	// Order is about the arrival tokens of all members together.
	Order Order `json:"order"`

	// Wait is from a connection's token, the time at which its client was due,
	// to its first byte here. Handover is from a slot freed at the limit to
	// the next connection accepted. On one machine only.
	Wait     *Histogram `json:"wait,omitempty"`
	Handover *Histogram `json:"handover,omitempty"`

	Open Series `json:"open"` // over all members
}

// Add adds what another server saw meanwhile; its members come behind. Series
// are added by the clock; see Series.Since for those of two hosts.
func (s *Server) Add(o *Server) {
	s.Members = append(s.Members, o.Members...)
	s.Requests += o.Requests
	s.Sent += o.Sent
	s.Received += o.Received
	s.Order.Add(&o.Order)
	merge(&s.Wait, o.Wait)
	merge(&s.Handover, o.Handover)
	s.Open.Add(o.Open)
}

// Member is what happened at one of a server's addresses.
type Member struct {
	Address    string      `json:"address"`
	Limit      int64       `json:"limit"` // 0: none
	Accepted   int64       `json:"accepted"`
	MaxOpen    int64       `json:"max_open"`        // most at one time
	Open       int64       `json:"open"`            // at the end
	Ghosts     int64       `json:"ghosts"`          // opened, closed by the peer, and no byte between
	Resets     int64       `json:"resets"`          // reset by the peer
	Overshoots int64       `json:"overshoots"`      // connections accepted above the limit
	First      []Overshoot `json:"first,omitempty"` // the first of them, at most 100
	Starved    int64       `json:"starved"`         // times that accept failed for want of a descriptor or memory
}

// Overshoot is one connection above the limit.
type Overshoot struct {
	At   int64 `json:"at"`   // ns since the server began
	Open int64 `json:"open"` // connections, this one included
}

// Order says how far connections came out of the order of their tokens.
type Order struct {
	Tokens     int64 `json:"tokens"`     // connections that brought one
	Overtaken  int64 `json:"overtaken"`  // came after somebody with a later token
	Inversions int64 `json:"inversions"` // pairs in the wrong order
	Places     int64 `json:"places"`     // most that one was overtaken by
	Behind     int64 `json:"behind"`     // most ns that an overtaker's token was later
	Far        int64 `json:"far"`        // of Overtaken: by more than the server's -fifo
	Dropped    int64 `json:"dropped"`    // tokens beyond what is kept; not looked at
}

// Add adds the numbers of another server's connections; distances become the
// most of any.
func (o *Order) Add(p *Order) {
	o.Tokens += p.Tokens
	o.Overtaken += p.Overtaken
	o.Inversions += p.Inversions
	o.Places = max(o.Places, p.Places)
	o.Behind = max(o.Behind, p.Behind)
	o.Far += p.Far
	o.Dropped += p.Dropped
}
