package method

// Ratio gives each member connections in proportion to its weight, spread
// evenly: of weights 5, 1, 1 the order is a a b a c a a. It is the smooth
// weighted round robin of nginx (src/http/ngx_http_upstream_round_robin.c,
// ngx_http_upstream_get_peer; the commit "Upstream: smooth weighted
// round-robin balancing", 2012): each choice gives every member that could be
// chosen its weight as credit, and the one with most credit pays for all.
//
// With one difference: what a choice gives and takes is one connection
// altogether, shared by weight, and not the sum of the weights. While the same
// members can be chosen that is the same order. But when some can't be, the sum
// is another one, and in nginx's way a member chosen beside few others pays
// less than it should: of weights 3, 1, 4, 2, the first two alone every second
// time, they get 143 and 25 of 240 instead of 126 and 42. Counted in
// connections everybody gets what is due to it, whoever could be chosen when,
// give or take a few (it is the problem of Fagin and Williams, "A Fair Carpool
// Scheduling Algorithm", 1983). And credit means the same when weights change.
//
// A member that can't be chosen gets no credit, so it comes back without a
// claim to what it missed. The zero value is ready.
type Ratio struct {
	credit []int64 // in parts of a connection, by member; sums up to 0
	due    []int64 // what each would have got by the last Next; 0 if skipped
}

// parts is how many parts a connection has. Rounding a member's share gives
// away less than one part in a million, if the weights sum up to less than 2^27.
const parts = 1 << 47

// Next returns the member to ask first, of those that are not to be skipped;
// -1 if all are. It changes nothing: if the member turns out not to take the
// connection, ask again and skip it. Weights are 1 to 65535, by index of the
// member; there may be more or fewer than at the last call.
func (r *Ratio) Next(weights []uint32, skip func(i int) bool) int {
	for len(r.credit) < len(weights) {
		r.credit, r.due = append(r.credit, 0), append(r.due, 0)
	}
	clear(r.due)
	total := int64(0)
	for i, w := range weights {
		if !skip(i) {
			r.due[i] = int64(w)
			total += int64(w)
		}
	}
	best, most := -1, int64(0)
	for i, w := range r.due {
		if w == 0 {
			continue
		}
		r.due[i] = w * (parts / total)
		if c := r.credit[i] + r.due[i]; best < 0 || c > most {
			best, most = i, c
		}
	}
	return best
}

// Chose tells that member i, which the last Next returned, got the connection.
func (r *Ratio) Chose(i int) {
	for k, d := range r.due {
		r.credit[k] += d
		r.credit[i] -= d
	}
}
