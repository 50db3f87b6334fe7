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

func TestListens(t *testing.T) {
	for _, tt := range []struct{ front, mode, want string }{
		{"kernel", "tcp", ":80"}, {"tap", "tcp", ":80 tap"}, {"tap", "forward", ":80 forward"},
	} {
		if got := listens(&ctl.Virtual{Listen: ":80", Front: tt.front, Mode: tt.mode}); got != tt.want {
			t.Errorf("front=%s, mode=%s: %q, want %q", tt.front, tt.mode, got, tt.want)
		}
	}
}
