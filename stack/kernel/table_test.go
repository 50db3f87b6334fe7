package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestTableOwners(t *testing.T) {
	tb := newTable()
	if ref, unsure := tb.event(7); ref != 0 || unsure {
		t.Errorf("nobody's descriptor: %d, %v", ref, unsure)
	}
	tb.done()
	tb.put(5000, 3)
	if ref, unsure := tb.event(5000); ref != 3 || unsure {
		t.Errorf("got %d, %v; want 3, sure", ref, unsure)
	}
	tb.drop(5000) // in its own event: no other can be in this batch
	tb.put(5000, 4)
	tb.done()
	if ref, unsure := tb.event(5000); ref != 4 || unsure {
		t.Errorf("got %d, %v; want 4, sure", ref, unsure)
	}
	tb.done()
}

// A descriptor that is closed in another's event is suspect, until the batch
// is known to be over.
func TestTableStale(t *testing.T) {
	tb := newTable()
	tb.put(10, 1)
	tb.put(11, 2)
	tb.event(10)
	tb.drop(11)
	tb.put(11, 3)
	tb.done()
	if ref, unsure := tb.event(11); ref != 3 || !unsure {
		t.Errorf("got %d, %v; want 3, unsure", ref, unsure)
	}
	tb.done()
	if ref, unsure := tb.event(11); ref != 3 || unsure {
		t.Errorf("got %d, %v; want 3, sure: the stale one is over", ref, unsure)
	}
	tb.done()
	tb.event(10)
	tb.drop(11)
	tb.put(11, 4)
	tb.batchOver()
	if ref, unsure := tb.event(11); ref != 4 || unsure {
		t.Errorf("got %d, %v; want 4, sure: the batch was over", ref, unsure)
	}
}

// A descriptor that comes again says that a new batch has begun, but not
// when: what was closed before may still be in it.
func TestTableStaleBehindDiscovery(t *testing.T) {
	const a, b, c = 10, 11, 12
	tb := newTable()
	for fd := a; fd <= c; fd++ {
		tb.put(fd, uint32(fd))
	}
	tb.event(b) // a batch of its own
	tb.done()
	tb.event(c) // the batch is c, b, a
	tb.drop(a)
	tb.put(a, 100)
	tb.done()
	tb.event(b)
	tb.done()
	if ref, unsure := tb.event(a); ref != 100 || !unsure {
		t.Errorf("got %d, %v; want 100, unsure: the event was the last owner's", ref, unsure)
	}
}

// Random batches, in which descriptors are closed and given out again: no
// event of a previous owner may pass for the present one's.
func TestTableNeverTrustsStaleEvents(t *testing.T) {
	var events, unsures, stales int
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		fds := rnd.IntN(12) + 2
		tb := newTable()
		owner := make([]uint32, fds) // 0: closed
		ref := uint32(0)
		for fd := range owner {
			ref++
			tb.put(fd, ref)
			owner[fd] = ref
		}
		for range 400 {
			if rnd.IntN(8) == 0 {
				tb.batchOver()
			}
			batch := rnd.Perm(fds)[:rnd.IntN(fds)+1]
			at := make(map[int]uint32) // owners when the kernel handed the batch over
			for _, fd := range batch {
				at[fd] = owner[fd]
			}
			for _, fd := range batch {
				if at[fd] == 0 {
					continue // nobody's descriptor makes no event
				}
				got, unsure := tb.event(fd)
				events++
				if unsure {
					unsures++
				}
				if got != owner[fd] {
					t.Fatalf("seed %d: descriptor %d is %d's, the table says %d", seed, fd, owner[fd], got)
				}
				if owner[fd] != 0 && owner[fd] != at[fd] {
					stales++
					if !unsure {
						t.Fatalf("seed %d: an event of %d passed for one of %d", seed, at[fd], owner[fd])
					}
				}
				for range rnd.IntN(3) {
					fd := rnd.IntN(fds)
					if owner[fd] != 0 {
						tb.drop(fd)
						owner[fd] = 0
					}
					if owner[fd] == 0 && rnd.IntN(4) > 0 {
						ref++
						tb.put(fd, ref)
						owner[fd] = ref
					}
				}
				tb.done()
			}
		}
	}
	t.Logf("%d events, %d stale, %d unsure", events, stales, unsures)
}
