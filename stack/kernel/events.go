package kernel

import (
	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

func readiness(ev netpoll.IOEvent, unsure bool) (r sys.Ready) {
	if unsure {
		return sys.In | sys.Out | sys.Unsure
	}
	if ev&(unix.EPOLLIN|unix.EPOLLPRI) != 0 {
		r |= sys.In
	}
	if ev&unix.EPOLLPRI != 0 {
		r |= sys.Unsure // a read stops at urgent data: a short one proves nothing
	}
	if ev&unix.EPOLLOUT != 0 {
		r |= sys.Out
	}
	if ev&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0 { // HUP: both directions have ended
		r |= sys.In | sys.Fin
	}
	if ev&unix.EPOLLERR != 0 {
		r |= sys.In | sys.Out | sys.Err
	}
	return r
}
