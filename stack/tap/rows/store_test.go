package rows

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// twin is a store as anybody would write it.
type twin struct {
	cells map[uint32]uint64
	due   map[uint32]int64
	now   int64
	next  uint64
}

type machine struct {
	Store[[7]uint64]
	twin
	made, size int
}

// Alloc_ takes cells: zeroed ones, and the lowest there are, but for rows that
// were given back, which are made again last.
func (m *machine) Alloc_(t *rapid.T) {
	lowest := uint32(1)
	for range rapid.IntRange(1, 3000).Draw(t, "n") {
		for ; m.cells[lowest] != 0; lowest++ {
		}
		room := m.used < (len(m.rows)-m.bare)*Len
		i := m.Alloc()
		if m.cells[i] != 0 || *m.At(i) != [7]uint64{} {
			t.Fatalf("cell %d is in use, or not zeroed", i)
		}
		if m.bare == 0 && i != lowest || room && i > uint32(len(m.rows)*Len) {
			t.Fatalf("cell %d, though %d is free", i, lowest)
		}
		m.next++
		m.cells[i], m.due[i] = m.next, Never
		m.At(i)[0], m.At(i)[6] = m.next, m.next
	}
}

// Free_ gives up all of some rows, and some of others.
func (m *machine) Free_(t *rapid.T) {
	from := rapid.Uint32Range(0, 8000).Draw(t, "from")
	to := from + rapid.Uint32Range(1, 8000).Draw(t, "n")
	keep := rapid.Uint32Range(1, 50).Draw(t, "keep")
	for i := range m.cells {
		if i >= from && i < to && (keep == 1 || i%keep != 0) {
			m.drop(i)
		}
	}
}

func (m *machine) drop(i uint32) {
	m.Free(i)
	delete(m.cells, i)
	delete(m.due, i)
}

func (m *machine) Due_(t *rapid.T) {
	every := rapid.Uint32Range(1, 2000).Draw(t, "every")
	for i := range m.cells {
		if i%every == 0 {
			at := m.now + int64(i%97)
			m.Due(i, at)
			m.due[i] = min(m.due[i], at)
		}
	}
}

// Walk_ goes over all once. It must come by all that are due, and by none of a
// row in which none is.
func (m *machine) Walk_(t *rapid.T) {
	m.now += rapid.Int64Range(0, 100).Draw(t, "wait")
	budget := rapid.IntRange(1, 2000).Draw(t, "budget")
	drop := rapid.Uint32Range(2, 9).Draw(t, "drop")
	due, rows := map[uint32]bool{}, map[uint32]bool{}
	for i, at := range m.due {
		if at <= m.now {
			due[i] = true
		}
	}
	looked := 0
	look := func(i uint32) int64 {
		if looked++; looked > budget || m.cells[i] == 0 {
			t.Fatalf("%d looked at, the last is %d, of at most %d", looked, i, budget)
		}
		rows[(i-1)/Len] = rows[(i-1)/Len] || due[i]
		if delete(due, i); i%drop == 0 {
			m.drop(i)
			return 0
		}
		if m.due[i] <= m.now {
			m.due[i] = m.now + int64(i%100)
		}
		return m.due[i]
	}
	for !m.Walk(m.now, budget, look) {
		looked = 0
	}
	if len(due) > 0 {
		t.Fatalf("%d are due and were not looked at", len(due))
	}
}

func (m *machine) Trim_(t *rapid.T) {
	before := m.Bytes()
	m.Trim()
	if m.Bytes() > before {
		t.Fatalf("%d bytes, was %d", m.Bytes(), before)
	}
}

func (m *machine) check(t *rapid.T) {
	if m.Used() != len(m.cells) {
		t.Fatalf("%d cells, should be %d", m.Used(), len(m.cells))
	}
	var all []uint32
	for i := m.Next(0); i != 0; i = m.Next(i) {
		all = append(all, i)
		if c := m.At(i); c[0] != m.cells[i] || c[6] != m.cells[i] {
			t.Fatalf("cell %d has %v, should be %d", i, *c, m.cells[i])
		}
	}
	if len(all) != len(m.cells) || !slices.IsSorted(all) {
		t.Fatalf("Next goes over %d cells of %d", len(all), len(m.cells))
	}
	there, empty, bare := 0, 0, 0
	for row, r := range m.rows {
		switch {
		case r == nil:
			bare++
		case m.notes[row].used == 0:
			empty++
			fallthrough
		default:
			there++
		}
	}
	if bare != m.bare || empty != m.empty || m.least > m.empty || there > m.made {
		t.Fatalf("%d rows are empty and %d bare, should be %d and %d; %d are there of %d", m.empty, m.bare, empty, bare, there, m.made)
	}
}

func TestStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{twin: twin{cells: map[uint32]uint64{}, due: map[uint32]int64{}}}
		m.Made = func(at, n uintptr) { m.made++ }
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "alloc": m.Alloc_, "free": m.Free_, "due": m.Due_, "walk": m.Walk_, "trim": m.Trim_,
		})
	})
}
