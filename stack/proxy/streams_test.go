package proxy

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// stream is n bytes that depend on a seed.
func stream(seed uint64, n int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}), n)
}

func sumOf(r io.Reader) (sum [sha256.Size]byte, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	h.Sum(sum[:0])
	return sum, n, err
}

// wantStream checks that a connection brings a whole stream, and then EOF.
func wantStream(t testing.TB, from io.Reader, seed uint64, n int64) {
	t.Helper()
	got, m, err := sumOf(from)
	want, _, _ := sumOf(stream(seed, n))
	if got != want || err != nil {
		t.Errorf("%d bytes, %v; want %d, the same ones (same: %v)", m, err, n, got == want)
	}
}

// slowly reads a piece at a time, with a pause behind each.
type slowly struct {
	io.Reader
	piece int
	pause time.Duration
	got   int
}

func (s *slowly) Read(b []byte) (int, error) {
	if s.got >= s.piece {
		s.got = 0
		time.Sleep(s.pause)
	}
	n, err := s.Reader.Read(b[:min(len(b), s.piece-s.got)])
	s.got += n
	return n, err
}

// Many streams at once, both ways, with readers of all speeds: every byte
// arrives, and no stream stays.
func TestRandomStreams(t *testing.T) {
	const streams, parallel = 400, 40
	s := serve(t, func(c *net.TCPConn) { // sends back what it is told to, and checks what it gets
		c.SetDeadline(time.Now().Add(6 * patience))
		var head [2]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			t.Error(err)
			return
		}
		seed := uint64(head[0]) | uint64(head[1])<<8
		rnd := rand.New(rand.NewPCG(seed, 1))
		up, down := randomSize(rnd), randomSize(rnd)
		var writing sync.WaitGroup
		writing.Go(func() { io.Copy(c, stream(seed+1, down)) })
		wantStream(t, randomReader(c, rnd), seed, up)
		writing.Wait()
	})
	r := start(t, member(s.addr(), 16), loops(4), func(c *Config) { c.MaxPipes = 2 })
	next := make(chan uint64, streams)
	for i := range uint64(streams) {
		next <- i
	}
	close(next)
	var running sync.WaitGroup
	for range parallel {
		running.Go(func() {
			for seed := range next {
				rnd := rand.New(rand.NewPCG(seed, 1))
				up, down := randomSize(rnd), randomSize(rnd)
				c, err := net.Dial("tcp", r.addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				c.SetDeadline(time.Now().Add(6 * patience))
				var writing sync.WaitGroup
				writing.Go(func() {
					c.Write([]byte{byte(seed), byte(seed >> 8)})
					io.Copy(c, stream(seed, up))
					c.(*net.TCPConn).CloseWrite()
				})
				wantStream(t, randomReader(c, rand.New(rand.NewPCG(seed, 3))), seed+1, down)
				writing.Wait()
				c.Close()
			}
		})
	}
	running.Wait()
	if s.most.Load() > 16 {
		t.Errorf("%d at once, limit 16", s.most.Load())
	}
	if t.Failed() {
		for len(r.ended) > 0 {
			if e := r.end(); e.Code != Served && e.Code != ServerEnd {
				t.Logf("%+v", e)
			}
		}
	}
}

func randomSize(rnd *rand.Rand) int64 { return rnd.Int64N(1 << (4 + rnd.IntN(18))) }

func randomReader(c io.Reader, rnd *rand.Rand) io.Reader {
	if rnd.IntN(3) == 0 {
		return &slowly{Reader: c, piece: 64 << 10, pause: time.Duration(rnd.IntN(3000)) * time.Microsecond}
	}
	return c
}
