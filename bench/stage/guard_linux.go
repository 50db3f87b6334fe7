package stage

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a process that cleans up should this program be killed outright. The
// kernel then kills the children, but not whom they have started, as the workers
// of a master, and nobody deletes the stage's directory.
//
// It reads who has begun ("+ PID") and ended ("- PID") from a pipe that ends with
// this program, then kills the groups of those that are left. It is in a group of
// its own and deaf to signals from a terminal, so that it is there to the last.
type guard struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

const guardScript = `
trap '' INT TERM HUP QUIT
all=
while read -r sign pid; do
	rest=
	for p in $all; do [ "$p" = "$pid" ] || rest="$rest $p"; done
	[ "$sign" = - ] || rest="$rest $pid"
	all=$rest
done
for p in $all; do kill -KILL "-$p"; done
rm -rf -- "$1"
`

func newGuard(dir string) (*guard, error) {
	g := &guard{cmd: exec.Command("sh", "-c", guardScript, "guard", dir)}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if g.in, err = g.cmd.StdinPipe(); err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start a shell, to clean up should penbench be killed: %w", err)
	}
	return g, nil
}

// A guard that was killed itself is no reason to stop: errors don't count.
func (g *guard) began(pid int) { fmt.Fprintf(g.in, "+ %d\n", pid) }
func (g *guard) ended(pid int) { fmt.Fprintf(g.in, "- %d\n", pid) }

// end has it clean up at once.
func (g *guard) end() {
	g.in.Close()
	g.cmd.Wait()
}
