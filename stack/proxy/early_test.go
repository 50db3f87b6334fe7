package proxy

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// A server that answers early and closes with the upload unread: its answer
// reaches the client whole, then a reset does.
func TestEarlyAnswer(t *testing.T) {
	answer := strings.Repeat("a", 200_000)
	for _, fin := range []bool{false, true} {
		t.Run(map[bool]string{false: "reset", true: "FIN and reset"}[fin], func(t *testing.T) {
			s := hold(t)
			r := start(t, member(s.addr(), 0), halfClose(never))
			c := r.dial()
			up := s.next(t)
			wrote := make(chan error, 1)
			go func() {
				_, err := c.ReadFrom(endless{}) // no buffers take all of it, however large they may grow here
				wrote <- err
			}()
			wantBytes(t, up, "\x00\x00\x00\x00")
			got := make(chan string, 1)
			go func() {
				b := make([]byte, len(answer))
				n, _ := io.ReadFull(c, b)
				got <- string(b[:n])
			}()
			write(t, up, answer)
			if fin {
				up.CloseWrite()
			}
			if <-got != answer {
				t.Error("the answer is not whole")
			}
			begun := time.Now()
			up.Close() // with bytes unread: a reset
			if err := <-wrote; os.IsTimeout(err) {
				t.Error("the upload does not end")
			}
			soon(t, begun, "the upload's end")
			r.wantEnd(ServerReset)
		})
	}
}
