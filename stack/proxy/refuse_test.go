package proxy

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"penstock/lb/dispatch"
)

func refuse(how Refuse) option { return virtual(func(v *Virtual) { v.Refuse = how }) }

// noQueue refuses who finds no slot.
var noQueue = queue(func(p *dispatch.PoolConfig) { p.Queue = false })

// C24: what a refused client sees, whether it has said something or not.
func TestC24Refusals(t *testing.T) {
	for _, said := range []string{"", "GET / HTTP/1.1\r\n\r\n"} {
		for how, name := range []string{"reset", "close", "http-503"} {
			t.Run(name+map[bool]string{true: ", silent"}[said == ""], func(t *testing.T) {
				s := hold(t)
				r := start(t, member(s.addr(), 1), noQueue, refuse(Refuse(how)))
				r.dial()
				s.next(t)
				if Refuse(how) == Reset {
					dialRefused(t, r.addr())
					r.wantEnd(QueueFull)
					return
				}
				c := r.dial()
				write(t, c, said)
				switch Refuse(how) {
				case Close:
					wantEOF(t, c, "")
				case HTTP503:
					want503(t, c)
				}
				c.Close()
				e := r.wantEnd(QueueFull)
				if e.Closer != "proxy" || e.Member != -1 || e.Left != "-" || e.Position != 0 {
					t.Errorf("%+v", e)
				}
				s.none(t)
				if n := r.VirtualTotals(0).Refused; n != 1 {
					t.Errorf("%d refused", n)
				}
			})
		}
	}
}

func want503(t *testing.T, c io.Reader) {
	t.Helper()
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%v", resp)
	}
	if rest, err := io.ReadAll(br); len(rest) != 0 || err != nil {
		t.Errorf("%q, %v behind the response", rest, err)
	}
}

// A client that is in the middle of a large upload reads its refusal whole.
func TestRefusalReachesUploader(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), noQueue, refuse(HTTP503))
	r.dial()
	s.next(t)
	for range 20 {
		c := r.dial()
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			io.WriteString(c, strings.Repeat("u", 4<<20)) // ends with a reset, if it is not through
		}()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 503 {
			t.Errorf("%v", resp)
		}
		<-wrote
		c.Close()
		r.wantEnd(QueueFull)
	}
}

// A refused client that does not close has a second.
func TestRefusedClientThatStays(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), noQueue, refuse(Close))
	r.dial()
	s.next(t)
	c := r.dial()
	wantEOF(t, c, "")
	begun := time.Now()
	r.wantEnd(QueueFull)
	if d := time.Since(begun); d > refuseLinger+atOnce {
		t.Errorf("ended after %v", d)
	}
}

// C23, C24: a wait that expires; the wire form is the same as for the others.
func TestC23Expires(t *testing.T) {
	for how, name := range []string{"reset", "close", "http-503"} {
		t.Run(name, func(t *testing.T) {
			const limit = 300 * time.Millisecond
			s := hold(t)
			r := start(t, member(s.addr(), 1), refuse(Refuse(how)),
				queue(func(p *dispatch.PoolConfig) { p.QueueTime = dispatch.Tick(limit) }))
			r.dial()
			s.next(t)
			begun := time.Now()
			c := r.dialSaying("request")
			switch Refuse(how) {
			case Reset:
				wantReset(t, c, "")
			case Close:
				wantEOF(t, c, "")
			case HTTP503:
				want503(t, c)
			}
			if d := time.Since(begun); d < limit || d > limit+atOnce {
				t.Errorf("ended after %v, want %v", d, limit)
			}
			c.Close()
			e := r.wantEnd(QueueTime)
			if e.Wait < limit || e.Left != "expired" || e.Position != 1 || e.Member != -1 {
				t.Errorf("%+v", e)
			}
			s.none(t)
		})
	}
}

// C29: refused only when the queue is as deep as it may be.
func TestC29Overflow(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 2), queue(func(p *dispatch.PoolConfig) { p.Depth = 3 }))
	one := r.dial()
	server := s.next(t)
	r.dial()
	s.next(t)
	r.park()
	r.park()
	r.park()
	dialRefused(t, r.addr())
	r.wantEnd(QueueFull)
	one.Close()
	wantEOF(t, server, "")
	server.Close()
	s.next(t)
	r.wantEnd(Served)
	r.park()
}

// Nobody up, and the pool does not wait for that.
func TestNoMember(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), queue(func(p *dispatch.PoolConfig) { p.WhenDownQueue = false }),
		func(c *Config) { c.Dispatch.Members[0].State = dispatch.Offline })
	dialRefused(t, r.addr())
	r.wantEnd(NoMember)
	s.none(t)
}
