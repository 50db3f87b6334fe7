package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Env is what Parse takes from outside of the command line.
type Env struct {
	ReadFile   func(name string) ([]byte, error) // for -flagfile
	UID        int                               // 0 is root
	RuntimeDir string                            // XDG_RUNTIME_DIR; "" none
}

// maxFlagFile bounds a flag file, so that a wrong path (a device, a log) is
// a mistake and not all of the memory. A member takes about 50 bytes.
const maxFlagFile = 16 << 20

// OS is the Env of this process.
func OS() Env {
	return Env{
		ReadFile:   readFile,
		UID:        os.Getuid(),
		RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
	}
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFlagFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFlagFile {
		return nil, fmt.Errorf("larger than %d bytes", maxFlagFile)
	}
	return b, nil
}

// admin is where the admin API listens if the user does not say.
func (e Env) admin() string {
	dir := "/run"
	if e.UID != 0 {
		dir = e.RuntimeDir
	}
	addr := "unix:" + filepath.Join(dir, "penstock", "admin.sock")
	// A relative runtime directory is to be ignored, says its standard.
	if _, err := parseAdmin(addr); err != nil || !filepath.IsAbs(dir) {
		return "off"
	}
	return addr
}
