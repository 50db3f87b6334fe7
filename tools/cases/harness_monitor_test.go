package cases

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// patient is a server that a monitor checks: by "GET /ill" or "GET /well",
// as monitor-send says. Everybody else says a line first, and is for next.
type patient struct {
	*server
	guests chan *visit
	ill    atomic.Bool  // what it answers
	good   atomic.Int64 // when it last answered well; see moment
	well   atomic.Int64 // when it first did so after it was ill
	checks atomic.Int64
}

// checked says with which keys a pool checks such servers; patiently, so that none
// is down since the machine has stalled, until falls has it.
const (
	checked   = "monitor=http,monitor-interval=100ms,monitor-timeout=2s"
	patiently = "monitor=http,monitor-interval=100ms,monitor-timeout=20s"
)

func newPatient(t testing.TB, name string) *patient {
	t.Helper()
	s := &patient{guests: make(chan *visit, 1<<12)}
	s.server = listen(t, name, s.receive)
	return s
}

func (s *patient) receive(v *visit) {
	ill := s.ill.Load() // before anybody can see that there was a check
	var err error
	if v.began, err = v.line(); err != nil && v.began == "" { // a check that was given up
		v.end()
		return
	}
	if !strings.HasPrefix(v.began, "GET ") {
		s.guests <- v
		return
	}
	for text := v.began; strings.TrimSpace(text) != ""; {
		text, _ = v.line()
	}
	now := moment()
	if ill {
		s.well.Store(0)
		s.checks.Add(1)
		v.Write([]byte("HTTP/1.1 500 Ill\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	} else {
		s.good.Store(now)
		s.well.CompareAndSwap(0, now)
		s.checks.Add(1)
		v.Write([]byte("HTTP/1.1 200 Well\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	}
	v.end()
}

// begun is the moment from which others are told in numbers, which no step of the
// clock moves.
var begun = time.Now()

func moment() int64 { return int64(time.Since(begun)) }

// guest returns the next client, which must come in time.
func (s *patient) guest(within time.Duration) *visit {
	s.t.Helper()
	return nextOf(s.server, s.guests, within)
}

// noGuest says that no client comes within a time.
func (s *patient) noGuest(span time.Duration) {
	s.t.Helper()
	select {
	case v := <-s.guests:
		s.t.Errorf("%q came to %s", v.began, s.name)
	case <-time.After(span):
	}
}

// falls makes the server ill, and waits until the proxy has noticed.
func (p *proxy) falls(s *patient) {
	p.t.Helper()
	s.ill.Store(true)
	p.setPool("monitor-timeout", "1s")
	await(p.t, patience, s.name+" is down", func() bool { return p.member(s.server).State == "down" })
	p.setPool("monitor-timeout", "20s")
}

// recovers makes it well again, and waits likewise.
func (p *proxy) recovers(s *patient) {
	p.t.Helper()
	s.ill.Store(false)
	await(p.t, patience, s.name+" is up", func() bool { return p.member(s.server).State != "down" })
}

// guests connects n clients that say their number, from first on, and leave
// when their server ends it.
func (p *proxy) guests(first, n int) (cs []*client) {
	p.t.Helper()
	for i := range n {
		c := p.polite(1)[0]
		c.say(itoa(first+i) + "\n")
		cs = append(cs, c)
	}
	return cs
}
