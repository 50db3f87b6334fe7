package snat

const (
	// looks is how many cells a search reads before it takes the best it has
	// seen, if it has seen any: some microseconds. Blocks that are all lent are
	// passed by, at a look each, a thousand at most.
	looks = 2048
	// tired is how many wanted cells that rest it compares: those next to come
	// have rested longest mostly.
	tired = 64
)

// Take lends the loop a port: one that is free and wanted; else, of the wanted
// ones it comes by, the one that has rested longest; else an unwanted one, in the
// same order. !ok: all are lent. Only on the loop.
func (p *Pool) Take(loop int, now int64, want func(port uint16) bool) (port uint16, ok bool) {
	l := &p.lanes[loop]
	for {
		i, cell := p.search(l.next, now, want)
		if i < 0 {
			return 0, false
		}
		if !p.cells[i].CompareAndSwap(cell, isLent|uint32(loop)) {
			continue // another loop has it: some loop gets on with each round
		}
		p.lent[i/blockLen].Add(1)
		l.inUse.Add(1)
		l.next = (i + 1) % Ports
		return uint16(First + i), true
	}
}

// found is the best cell of a kind so far; none if i is negative.
type found struct {
	i    int
	cell uint32
	left uint32
}

// better takes a cell that rests for less time than the one there is.
func (f *found) better(i int, cell, left uint32) {
	if f.i < 0 || left < f.left {
		*f = found{i, cell, left}
	}
}

// search goes round the cells from start and returns the best one to take, as it
// was when it was read; -1 if all are lent.
func (p *Pool) search(start int, now int64, want func(port uint16) bool) (int, uint32) {
	wanted, other := found{i: -1}, found{i: -1}
	looked, resting := 0, 0
	for past := 0; past < Ports; {
		i := (start + past) % Ports
		if p.lent[i/blockLen].Load() == blockLen {
			past += blockLen - i%blockLen
			continue
		}
		past++
		cell := p.cells[i].Load()
		if looked++; cell&isLent == 0 {
			switch rest := left(cell, now); {
			case !want(uint16(First + i)):
				other.better(i, cell, rest)
			case rest == 0:
				return i, cell
			default:
				resting++
				wanted.better(i, cell, rest)
			}
		}
		if resting == tired || looked >= looks && (wanted.i >= 0 || other.i >= 0) {
			break
		}
	}
	if wanted.i >= 0 {
		return wanted.i, wanted.cell
	}
	return other.i, other.cell
}
