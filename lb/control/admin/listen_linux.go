package admin

import "syscall"

// ownerOnly gives a Unix socket its mode before it has a name: bind takes it
// over, so at no moment may others connect. (Linux; chmod after bind would
// leave a gap, and umask is the whole process's.)
func ownerOnly(_, _ string, c syscall.RawConn) (err error) {
	if e := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); e != nil {
		return e
	}
	return err
}
