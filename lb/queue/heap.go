package queue

// heap is a binary heap of entries, oldest ticket on top. container/heap
// would box every entry.
type heap []Entry

func (h *heap) push(e Entry) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !s[i].Before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
	*h = s
}

func (h *heap) pop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	s.down(0)
	if last == 0 {
		s = nil // a burst of failed dials leaves no memory behind
	}
	*h = s
}

func (h heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if r := child + 1; r < len(h) && h[r].Before(&h[child]) {
			child = r
		}
		if !h[child].Before(&h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// filter drops what keep refuses and returns how many went.
func (h *heap) filter(keep func(*Entry) bool) int {
	s := (*h)[:0]
	for i := range *h {
		if keep(&(*h)[i]) {
			s = append(s, (*h)[i])
		}
	}
	gone := len(*h) - len(s)
	*h = s
	for i := len(s)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
	return gone
}
