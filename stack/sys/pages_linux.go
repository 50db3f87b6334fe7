package sys

import (
	"golang.org/x/sys/unix"
)

// hugePage is the size of a large page.
const hugePage = 2 << 20

// LargePages asks the kernel for large pages where n bytes at p lie, so that random
// reads of a large table miss the TLB less. Whole pages are asked for, with what else
// is in them. If there are none it stays as it is.
func LargePages(p, n uintptr) {
	from := p &^ (hugePage - 1)
	to := (p + n + hugePage - 1) &^ (hugePage - 1)
	unix.RawSyscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE)
}
