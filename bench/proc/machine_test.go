package proc

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A processor that works is busy. It is looked for until it is so: of the time in
// which a virtual machine stands still its processes may be charged all, and its
// processors none. No more is busy than there is.
func TestBusy(t *testing.T) {
	before, err := Busy()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	const work = 200 * time.Millisecond
	for after, most := before, time.Now().Add(time.Minute); after-before < work; {
		busy(t, work/20)
		if after, err = Busy(); err != nil || time.Now().After(most) {
			t.Fatalf("%v busy in %v: %v", after-before, time.Since(begun), err)
		}
	}
	after, err := Busy()
	const grain = time.Second
	if d, most := after-before, time.Since(begun)*processors(t); err != nil || d > most+grain {
		t.Errorf("%v busy, of %v: %v", d, most, err)
	}
}

// processors are those of the machine, whether this process may use them or not.
func processors(t *testing.T) (n time.Duration) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "cpu") && !strings.HasPrefix(line, "cpu ") {
			n++
		}
	}
	return n
}
