package tally

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// Lines is what a client writes, up to the first error.
type Lines struct {
	To   io.Writer
	Text bool // words in place of JSON
	Err  error
}

// Write writes what is said.
func (l *Lines) Write(what Said) {
	if l.Err == nil {
		l.Err = Say(l.To, l.Text, what)
	}
}

// The lines that a client writes before its tally.
type (
	Ready struct { // waits for a line
		Ready bool `json:"ready"`
	}
	Standing struct { // so many connections stand that are to be held
		Standing int `json:"standing"`
	}
	Counting struct { // the measured time has begun
		Counting bool `json:"counting"`
	}
)

func (Ready) Text(w io.Writer)      { fmt.Fprintln(w, "ready: a line begins it") }
func (l Standing) Text(w io.Writer) { fmt.Fprintf(w, "standing: %d\n", l.Standing) }
func (Counting) Text(w io.Writer)   { fmt.Fprintln(w, "counting") }

// Wait waits for a line. The end of ctx is no error: the run that follows ends
// at once.
func Wait(ctx context.Context, from io.Reader) error {
	came := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(from).ReadString('\n')
		came <- err
	}()
	select {
	case err := <-came:
		if err != nil {
			return fmt.Errorf("waiting for a line to begin: %w", err)
		}
	case <-ctx.Done():
	}
	return nil
}
