package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Env is what Parse takes from outside of the command line.
type Env struct {
	ReadFile   func(name string) ([]byte, error)      // for -flagfile and -admin-token-file
	FileMode   func(name string) (fs.FileMode, error) // who may read that
	UID        int                                    // 0 is root
	RuntimeDir string                                 // XDG_RUNTIME_DIR; "" none
	Cores      int                                    // that -loops 0 makes a loop for each of; 0 not known
}

// maxFlagFile bounds a flag file, so that a wrong path (a device, a log) is
// a mistake and not all of the memory. A member takes about 50 bytes.
const maxFlagFile = 16 << 20

// OS is the Env of this process.
func OS() Env {
	return Env{
		ReadFile:   readFile,
		FileMode:   fileMode,
		UID:        os.Getuid(),
		RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
		Cores:      runtime.GOMAXPROCS(0),
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

func fileMode(name string) (fs.FileMode, error) {
	i, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return i.Mode(), nil
}

// checkSecret says what keeps a file from being one that holds a secret.
func (e Env) checkSecret(name string) error {
	text, err := e.read(name)
	if err != nil {
		return fmt.Errorf("%s; allowed is a file that can be read", bare(err.Error()))
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("empty; allowed is a file with a token in it")
	}
	if e.FileMode == nil {
		return nil
	}
	mode, err := e.FileMode(name)
	if err != nil {
		return fmt.Errorf("%s; allowed is a file that can be read", bare(err.Error()))
	}
	if mode.Perm()&0o006 != 0 {
		return fmt.Errorf("mode %04o lets everybody read or write it; allowed is a file of mode 0600 or 0640", mode.Perm())
	}
	return nil
}

// Admin is where the admin API listens if the user does not say, "off" if
// there is no place for it.
func (e Env) Admin() string {
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
