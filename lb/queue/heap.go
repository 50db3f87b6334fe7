package queue

import "slices"

// heap is a binary heap of entries, oldest ticket on top; of the same ticket,
// who came first. container/heap would box every entry.
type heap struct {
	items []item
	seq   uint64
}

type item struct {
	Entry
	seq uint64
}

func (a *item) before(b *item) bool {
	if a.Since == b.Since && a.Loop == b.Loop {
		return a.seq < b.seq
	}
	return a.Entry.Before(&b.Entry)
}

func (h *heap) push(e Entry) {
	h.seq++
	h.items = append(h.items, item{e, h.seq})
	s := h.items
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !s[i].before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *heap) pop() {
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.down(0)
	if last == 0 {
		h.items = nil // a burst of failed dials leaves no memory behind
	}
}

func (h *heap) down(i int) {
	s := h.items
	for {
		child := 2*i + 1
		if child >= len(s) {
			return
		}
		if r := child + 1; r < len(s) && s[r].before(&s[child]) {
			child = r
		}
		if !s[child].before(&s[i]) {
			return
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
}

// filter drops what keep refuses and returns how many went.
func (h *heap) filter(keep func(*Entry) bool) int {
	s := h.items[:0]
	for i := range h.items {
		if keep(&h.items[i].Entry) {
			s = append(s, h.items[i])
		}
	}
	gone := len(h.items) - len(s)
	if len(s) < cap(s)/4 {
		s = slices.Clone(s) // give up the memory of those who went
	}
	h.items = s
	for i := len(s)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return gone
}
