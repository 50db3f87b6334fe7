package kernel

// table tells whose a descriptor is: 4 bytes for each.
//
// An entry is the owner's reference shifted left by one, and in the lowest
// bit whether the next event may be the previous owner's; see the package
// comment.
type table struct {
	refs    []uint32
	current int // descriptor whose event is handled now; -1 none
}

const stale = 1

// put makes ref (not 0) the owner of fd.
func (t *table) put(fd int, ref uint32) {
	for fd >= len(t.refs) {
		t.refs = append(t.refs, make([]uint32, max(len(t.refs), 1024))...)
	}
	t.refs[fd] = ref<<1 | t.refs[fd]&stale
}

// drop forgets the owner. A batch holds one event a descriptor at most, so
// the one whose event is being handled can't have another in it.
func (t *table) drop(fd int) {
	if fd >= len(t.refs) {
		return
	}
	if fd == t.current {
		t.refs[fd] = 0
	} else {
		t.refs[fd] = stale
	}
}

// event looks up who owns fd; 0 is nobody.
func (t *table) event(fd int) (ref uint32, unsure bool) {
	t.current = fd
	if fd >= len(t.refs) {
		return 0, false
	}
	r := t.refs[fd]
	t.refs[fd] &^= stale
	return r >> 1, r&stale != 0
}

func (t *table) done() { t.current = -1 }
