package main

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// A log that nobody reads holds nobody up, and says later what it lost.
func TestOutletDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	o := newOutlet(w, slog.New(slog.NewTextHandler(w, nil)))
	const written = mostLines + 100
	for range written {
		if n, err := io.WriteString(o, "line\n"); n != 5 || err != nil {
			t.Fatal(n, err)
		}
	}
	var all bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(&all, r) })
	o.Close()
	io.WriteString(o, "too late\n") // as from a goroutine that has not ended yet
	<-o.done                        // Close waits no longer than a second
	w.Close()
	reading.Wait()
	n := strings.Count(all.String(), "line\n")
	if n < mostLines || n >= written || !strings.Contains(all.String(), "are lost, since nobody read it\" lost=") {
		t.Errorf("%d of %d lines:\n%.200s", n, written, all.String())
	}
}

// Nor does it hold up the end of the program.
func TestOutletEndsThoughNobodyReads(t *testing.T) {
	r, w := io.Pipe()
	o := newOutlet(w, slog.New(slog.NewTextHandler(w, nil)))
	io.WriteString(o, "line\n")
	o.Close()
	r.Close()
	<-o.done
}
