// Package term tells whether somebody sits before what a program writes.
package term

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Is says that w is a terminal. /dev/null is none, though it is a device too.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
