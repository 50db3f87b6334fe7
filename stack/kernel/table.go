package kernel

// table tells whose a descriptor is, and whether an event may be meant for
// its previous owner; see the package comment. 12 bytes a descriptor.
//
// The poller hands events over in batches and does not say where one ends. But
// a descriptor is in a batch once at most. So when one comes again, a new
// batch has begun; the listener alone sees to it that this is found out soon.
// The count of batches known to have begun is the epoch.
type table struct {
	refs []uint32 // owner's reference shifted left by one, and the stale bit
	// seen is the epoch of the descriptor's last event; with the stale bit, of
	// the moment when its last owner was dropped.
	seen    []uint64
	epoch   uint64
	current int // descriptor whose event is handled now; -1 none
}

// stale marks a descriptor that was closed while the batch at hand may still
// have had an event for it.
const stale = 1

func newTable() table { return table{epoch: 1, current: -1} }

func (t *table) grow(fd int) {
	for fd >= len(t.refs) {
		n := max(len(t.refs), 1024)
		t.refs = append(t.refs, make([]uint32, n)...)
		t.seen = append(t.seen, make([]uint64, n)...)
	}
}

// put makes ref (not 0) the owner of fd.
func (t *table) put(fd int, ref uint32) {
	t.grow(fd)
	t.refs[fd] = ref<<1 | t.refs[fd]&stale
}

// drop forgets the owner. The descriptor whose event is being handled can't
// have another one in this batch.
func (t *table) drop(fd int) {
	t.grow(fd)
	if fd == t.current {
		t.refs[fd] = 0
		return
	}
	t.refs[fd], t.seen[fd] = stale, t.epoch
}

// event looks up who owns fd; 0 is nobody.
func (t *table) event(fd int) (ref uint32, unsure bool) {
	t.grow(fd)
	t.current = fd
	again := t.seen[fd] == t.epoch
	if t.refs[fd]&stale != 0 {
		t.refs[fd] &^= stale
		unsure = again // no batch is known to have begun since it was closed
	} else if again {
		t.epoch++
	}
	t.seen[fd] = t.epoch
	return t.refs[fd] >> 1, unsure
}

// batchOver notes that all events of the batch have been handled.
func (t *table) batchOver() {
	t.epoch++
	t.current = -1
}

func (t *table) done() { t.current = -1 }
