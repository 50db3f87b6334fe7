package term

import (
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIs(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, w := range []io.Writer{nil, io.Discard, null} {
		if Is(w) {
			t.Errorf("%v is a terminal", w)
		}
	}
	if !Is(terminal(t)) {
		t.Error("a terminal is none")
	}
}

// terminal is the end of a pair at which a program would sit.
func terminal(t *testing.T) *os.File {
	t.Helper()
	keeper, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { keeper.Close() })
	n, err := unix.IoctlGetInt(int(keeper.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keeper.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { end.Close() })
	return end
}
