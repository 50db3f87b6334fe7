package accesslog

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// slow is a file that takes some time more when it may go on.
type slow struct{ begun, on chan struct{} }

func (s slow) Write(b []byte) (int, error) {
	close(s.begun)
	<-s.on
	time.Sleep(50 * time.Millisecond)
	return len(b), nil
}

// A machine that stands still for longer than stuckTime, as this process does here,
// is not a file that takes nothing.
func TestStallIsNoHang(t *testing.T) {
	stuck := stuckTime
	stuckTime = time.Second
	defer func() { stuckTime = stuck }()
	s := slow{make(chan struct{}), make(chan struct{})}
	l := New(s, config(1))
	l.Ended(0, ended(1))
	<-s.begun
	wakes := exec.Command("sh", "-c", `echo; while sleep 1.5; do kill -CONT "$PPID"; done`)
	wakes.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ready, err := wakes.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := wakes.Start(); err != nil {
		t.Fatal(err)
	}
	ready.Read(make([]byte, 1))
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	<-l.stop
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	close(s.on)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	<-l.done
	syscall.Kill(-wakes.Process.Pid, syscall.SIGKILL)
	wakes.Wait()
}
