package accesslog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Rotation: the file is moved away, and Reopen goes on in a new one. No line
// is lost, none is in both.
func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(path, config(1))
	if err != nil {
		t.Fatal(err)
	}
	const rounds, each = 10, 300
	for i := range rounds {
		for k := range each {
			l.Ended(0, ended(i*each+k))
		}
		if err := os.Rename(path, path+"."+string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
		if err := l.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	l.Ended(0, ended(rounds*each))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(path + "*")
	lines := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, tail, _ := strings.Cut(line, " up=")
			up, _, _ := strings.Cut(tail, " ")
			if lines[up] {
				t.Fatalf("up=%s is there twice", up)
			}
			lines[up] = true
		}
	}
	if len(files) != rounds+1 || len(lines) != rounds*each+1 {
		t.Errorf("%d files, %d lines; want %d and %d", len(files), len(lines), rounds+1, rounds*each+1)
	}
	if err := l.Reopen(); err == nil {
		t.Error("Reopen after Close says nothing")
	}
}

func TestOpenAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	for range 2 {
		l, err := Open(path, config(1))
		if err != nil {
			t.Fatal(err)
		}
		l.Ended(0, ended(1))
		l.Close()
	}
	text, _ := os.ReadFile(path)
	if strings.Count(string(text), "\n") != 2 {
		t.Errorf("%s", text)
	}
	if s, _ := os.Stat(path); s.Mode().Perm()&0o007 != 0 {
		t.Errorf("mode %v: everybody may read who was connected", s.Mode())
	}
}

func TestOpenFails(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none", "access.log"), config(1))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "access log: ") {
		t.Errorf("%v", err)
	}
}

// A file that can't be opened again leaves the log as it is.
func TestReopenFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "access.log")
	l, err := Open(path, config(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	l.Ended(0, ended(1))
	l.Close()
	if text, _ := os.ReadFile(filepath.Join(dir+".old", "access.log")); len(text) == 0 {
		t.Error("the line is not in the old file")
	}
}

func TestReopenNoFile(t *testing.T) {
	l := New(&watched{}, config(1))
	defer l.Close()
	if err := l.Reopen(); !errors.Is(err, ErrNoFile) {
		t.Errorf("%v", err)
	}
}

// A FIFO that nobody reads, or reads on, holds up nobody.
func TestStuckFIFO(t *testing.T) {
	stuck := stuckTime
	stuckTime = time.Second
	defer func() { stuckTime = stuck }()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, config(1)); err == nil || !strings.Contains(err.Error(), "nobody reads it") {
		t.Errorf("open: %v", err)
	}
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, config(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		l.Ended(0, ended(i))
	}
	for name, f := range map[string]func() error{"reopen": l.Reopen, "flush": func() error { l.Flush(); return nil }, "close": l.Close} {
		begun := time.Now()
		err := f()
		if d := time.Since(begun); d > 20*time.Second || name != "flush" && err == nil {
			t.Errorf("%s: %v after %v", name, err, d)
		}
	}
	r.Close() // lets the writer go
	<-l.done
}
