package due

// Heap holds deadlines by id. Ids are small numbers, such as indices or
// descriptors: memory is 4 bytes for each up to the largest, and 16 for each
// deadline. Its zero value is empty. Not for use by several goroutines.
type Heap struct {
	entries []entry // a binary heap: none is before its parent
	places  []int32 // by id: 1 + index of its entry; 0: none
}

type entry struct {
	at int64
	id int32
}

// Len is how many have a deadline.
func (h *Heap) Len() int { return len(h.entries) }

// First is the earliest deadline, if there is one.
func (h *Heap) First() (at int64, ok bool) {
	if len(h.entries) == 0 {
		return 0, false
	}
	return h.entries[0].at, true
}

// Pop takes out one whose deadline is not after now, the earliest first. Those
// of the same time come in any order.
func (h *Heap) Pop(now int64) (id int, ok bool) {
	if at, ok := h.First(); !ok || at > now {
		return 0, false
	}
	id = int(h.entries[0].id)
	h.Clear(id)
	return id, true
}

// Set gives an id a deadline, in place of what it had.
func (h *Heap) Set(id int, at int64) {
	for len(h.places) <= id {
		h.places = append(h.places, 0)
	}
	i := int(h.places[id]) - 1
	if i < 0 {
		i = len(h.entries)
		h.entries = append(h.entries, entry{})
	}
	h.settle(i, entry{at, int32(id)})
}

// Clear takes the deadline from an id, if it has one.
func (h *Heap) Clear(id int) {
	if id >= len(h.places) || h.places[id] == 0 {
		return
	}
	i, last := int(h.places[id])-1, len(h.entries)-1
	moved := h.entries[last]
	h.entries, h.places[id] = h.entries[:last], 0
	if i < last {
		h.settle(i, moved)
	}
}

// settle puts an entry where it belongs, given that all but place i are in
// order and i is free.
func (h *Heap) settle(i int, e entry) {
	for parent := (i - 1) / 2; i > 0 && e.at < h.entries[parent].at; parent = (i - 1) / 2 {
		h.put(i, h.entries[parent])
		i = parent
	}
	for {
		child := 2*i + 1
		if child+1 < len(h.entries) && h.entries[child+1].at < h.entries[child].at {
			child++
		}
		if child >= len(h.entries) || h.entries[child].at >= e.at {
			break
		}
		h.put(i, h.entries[child])
		i = child
	}
	h.put(i, e)
}

func (h *Heap) put(i int, e entry) {
	h.entries[i] = e
	h.places[e.id] = int32(i) + 1
}
