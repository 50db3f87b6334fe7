package sys

import "golang.org/x/sys/unix"

// Ready is what a socket can be used for, as far as is known.
type Ready uint8

const (
	In     Ready = 1 << iota // there is something to read, or the end
	Out                      // there is room to write; or a dial came through
	Fin                      // the peer sent FIN: what can be read now is the last
	Err                      // an error is pending, a reset mostly
	Unsure                   // not to be relied on (the descriptor's previous owner's, urgent data): look
)

// ReadyOf translates what poll and epoll report; their bits are the same.
func ReadyOf(events uint32) (r Ready) {
	if events&(unix.EPOLLIN|unix.EPOLLPRI) != 0 {
		r |= In
	}
	if events&unix.EPOLLPRI != 0 {
		r |= Unsure // a read stops at urgent data: a short one proves nothing
	}
	if events&unix.EPOLLOUT != 0 {
		r |= Out
	}
	if events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0 { // HUP: both directions have ended
		r |= In | Fin
	}
	if events&unix.EPOLLERR != 0 {
		r |= In | Out | Err
	}
	return r
}
