package top

import (
	"bufio"
	"io"
	"testing"

	"penstock/lb/control/config"
	"penstock/lb/control/ctl"
)

func clientOf(t *testing.T, p *proxy) *ctl.Client {
	t.Helper()
	c, err := ctl.Connect(p.address(), "", config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// readFrames cuts what is printed into frames, which begin with a title.
func readFrames(r io.Reader, frames chan<- string) {
	defer close(frames)
	frame := ""
	for s := bufio.NewScanner(r); s.Scan(); {
		l := s.Text()
		if len(l) > 12 && l[:12] == "penstock top" && frame != "" {
			frames <- frame
			frame = ""
		}
		frame += l + "\n"
	}
}
