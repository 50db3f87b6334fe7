package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is an io_uring for one thing: several writes in one system call. They
// are done in order, and none waits. It locks no memory, and belongs to one
// goroutine at a time.
type Ring struct {
	// Constant after OpenRing.
	fd             int
	rings, entries []byte // mapped, shared with the kernel
	sqHead, sqTail *uint32
	cqHead, cqTail *uint32
	sqes           []sqe
	cqes           []cqe

	tail   uint32 // of the submission queue; the kernel's is set by Submit
	writes []write
	room   []byte // what they write
	used   int
}

type write struct {
	off, len int32 // in room
	result   int32 // bytes, or a negated Errno
}

// sqe and cqe are struct io_uring_sqe and io_uring_cqe.
type sqe struct {
	op, flags uint8
	ioprio    uint16
	fd        int32
	off       uint64
	addr      uint64
	len, rw   uint32
	user      uint64
	_         [3]uint64
}

type cqe struct {
	user  uint64
	res   int32
	flags uint32
}

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	_                                                    [3]uint32
	sq                                                   struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

const (
	opWrite   = 23
	noWait    = 8 // RWF_NOWAIT: the write has ended when Submit does, with EAGAIN perhaps
	getEvents = 1 // wait for writes to end

	offEntries = 0x10000000 // where to map them

	// featureWorkers came with Linux 5.12. Before, rings are locked memory.
	featureWorkers = 1 << 9
)

// OpenRing makes a ring for so many writes at once (a power of two) of so many
// bytes together. There is none (ENOSYS, EPERM, ...) where the kernel is old or
// the administrator does not want it.
func OpenRing(writes, bytes int) (*Ring, Errno) {
	var p ringParams
	fd, _, e := unix.RawSyscall(unix.SYS_IO_URING_SETUP, uintptr(writes), uintptr(unsafe.Pointer(&p)), 0)
	if e != 0 {
		return nil, e
	}
	r := &Ring{fd: int(fd), writes: make([]write, 0, writes), room: make([]byte, bytes)}
	if p.features&featureWorkers == 0 {
		e = unix.ENOSYS
	} else {
		e = r.share(&p)
	}
	if e != 0 {
		r.Close()
		return nil, e
	}
	return r, 0
}

// share maps what the kernel reads and writes, too.
func (r *Ring) share(p *ringParams) Errno {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+uint32(unsafe.Sizeof(cqe{}))*p.cqEntries)
	var err error
	if r.rings, err = unix.Mmap(r.fd, 0, int(size), prot, flags); err != nil {
		return errno(err)
	}
	if r.entries, err = unix.Mmap(r.fd, offEntries, int(unsafe.Sizeof(sqe{}))*int(p.sqEntries), prot, flags); err != nil {
		return errno(err)
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[off])) }
	r.sqHead, r.sqTail, r.cqHead, r.cqTail = at(p.sq.head), at(p.sq.tail), at(p.cq.head), at(p.cq.tail)
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.entries[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(at(p.cq.cqes))), p.cqEntries)
	for i := range p.sqEntries {
		*at(p.sq.array + 4*i) = i // entry i has place i
	}
	return 0
}

// Close gives the ring up. What was not submitted is not written.
func (r *Ring) Close() {
	if r.entries != nil {
		unix.Munmap(r.entries)
	}
	if r.rings != nil {
		unix.Munmap(r.rings)
	}
	Close(r.fd)
}

// Add adds a write of n bytes, which the caller puts into b before Submit. nil:
// there is no room for it; Submit and Clear first.
func (r *Ring) Add(fd, n int) (b []byte) {
	if len(r.writes) == cap(r.writes) || n > len(r.room)-r.used {
		return nil
	}
	b = r.room[r.used:][:n:n]
	r.sqes[r.tail&uint32(len(r.sqes)-1)] = sqe{
		op: opWrite, fd: int32(fd), len: uint32(n), rw: noWait, user: uint64(len(r.writes)),
		addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))),
	}
	r.tail++
	r.writes = append(r.writes, write{off: int32(r.used), len: int32(n)})
	r.used += n
	return b
}

// Len returns how many writes there are.
func (r *Ring) Len() int { return len(r.writes) }

// Write returns write i: its bytes, until Clear, and, after Submit, how many of
// them were written.
func (r *Ring) Write(i int) (b []byte, n int, e Errno) {
	w := &r.writes[i]
	b = r.room[w.off:][:w.len]
	if w.result < 0 {
		return b, 0, Errno(-w.result)
	}
	return b, int(w.result), 0
}

// Clear forgets all writes, submitted or not.
func (r *Ring) Clear() {
	r.writes, r.used = r.writes[:0], 0
	r.tail = atomic.LoadUint32(r.sqHead)
}

// Submit does all writes. What this kernel can't do this way (EOPNOTSUPP), or
// did not because the ring failed (an error), it leaves undone: Write says
// EOPNOTSUPP then.
func (r *Ring) Submit() (e Errno) {
	for i := range r.writes {
		r.writes[i].result = -int32(unix.EOPNOTSUPP)
	}
	atomic.StoreUint32(r.sqTail, r.tail)
	for ended, wait, flags := 0, 0, 0; ; {
		left := r.tail - atomic.LoadUint32(r.sqHead)
		_, _, e = unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(left), uintptr(wait), uintptr(flags), 0, 0)
		ended += r.reap()
		if ended == len(r.writes) || e != 0 && e != unix.EINTR {
			return e
		}
		// The kernel took a part of them, for want of memory; or one goes on
		// behind our back, which may not be while its bytes are to be reused.
		if wait, flags = 0, 0; r.tail == atomic.LoadUint32(r.sqHead) {
			wait, flags = len(r.writes)-ended, getEvents
		}
	}
}

// reap takes in the results that there are.
func (r *Ring) reap() (n int) {
	head, tail := *r.cqHead, atomic.LoadUint32(r.cqTail)
	for ; head != tail; head++ {
		c := &r.cqes[head&uint32(len(r.cqes)-1)]
		r.writes[c.user].result = c.res
		n++
	}
	atomic.StoreUint32(r.cqHead, head)
	return n
}
