package proxy

import (
	"io"
	"strings"
	"testing"
	"time"
)

// A client that says its last and then resets: the kernel gives the FIN to who
// reads, and keeps the reset to itself. Both are known before the loop looks,
// or the reset comes later, or it is the answer to the server's bytes.
func TestClientFinThenReset(t *testing.T) {
	for _, c := range []struct {
		name          string
		together      bool
		bytes, answer string
	}{
		{"together", true, "", ""},
		{"together, behind bytes", true, "bytes", ""},
		{"together, behind many bytes", true, strings.Repeat("b", 10_000), ""},
		{"later", false, "bytes", ""},
		{"together, with an answer on its way", true, "bytes", "answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hold(t)
			r := startStill(t, member(s.addr(), 1))
			client := r.dial()
			up := s.next(t)
			pass(t, client, up)
			waiter := r.park()
			if c.together {
				r.hold()
			}
			write(t, client, c.bytes)
			client.CloseWrite()
			if !c.together {
				wantEOF(t, up, c.bytes)
			}
			begun := time.Now()
			reset(client)
			if c.together {
				r.untilBroken(1)
			}
			if c.answer != "" {
				write(t, up, c.answer)
			}
			r.run()
			if c.together { // or else the server has had its FIN
				if b, err := io.ReadAll(up); !strings.HasPrefix(c.bytes, string(b)) || !isReset(err) {
					t.Errorf("the server got %d bytes, then %v; want a reset", len(b), err)
				}
			}
			pass(t, waiter, s.next(t))
			soon(t, begun, "the slot")
			r.wantEnd(ClientReset)
		})
	}
}

// A server that resets while its last words are on their way to a client that
// is gone: nobody waits for its acknowledgement.
func TestServerResetsBehindClientThatIsGone(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 1))
	client := r.dial()
	up := s.next(t)
	pass(t, client, up)
	r.hold()
	client.CloseWrite()
	reset(client)
	write(t, up, "last words")
	reset(up)
	begun := time.Now()
	r.run()
	if e := r.end(); e.Code != ClientReset && e.Code != ServerReset {
		t.Errorf("%+v", e)
	}
	soon(t, begun, "the end")
}
