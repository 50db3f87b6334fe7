package kernel

// table tells whose a descriptor is, and whether an event may be meant for
// its previous owner; see the package comment. 12 bytes a descriptor.
//
// The poller hands events over in batches and does not say where one ends. But
// a descriptor is in a batch once at most. So when one comes again, a batch
// must have ended since it came first, and the epoch goes up. That may have
// been before some descriptor was dropped, though this is seen after it; when
// the epoch goes up a second time, by one that came twice since the first, the
// batch of the drop is over for certain. The listener alone brings that about
// soon.
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

// certain is by how much the epoch must go up for a batch to be over.
const certain = 2

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
		unsure = t.epoch < t.seen[fd]+certain
	} else if again {
		t.epoch++
	}
	t.seen[fd] = t.epoch
	return t.refs[fd] >> 1, unsure
}

// batchOver notes that all events of the batch have been handled.
func (t *table) batchOver() {
	t.epoch += certain
	t.current = -1
}

func (t *table) done() { t.current = -1 }
