package relay

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"penstock/stack/sys"
)

// Random streams both ways, in random pieces, with random pauses of writers
// and readers, through random small buffers: what arrives is what was sent,
// and each end is passed on.
func TestRandomStreams(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	w := NewWorker(2)
	defer w.Close()
	for seed := range uint64(rounds) {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomPair(t, w, seed) })
		if !ok {
			return
		}
	}
}

func randomPair(t *testing.T, w *Worker, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	a, b := open(t, randomSizes(rnd)), open(t, randomSizes(rnd))
	var wrote, read [2]chan [sha256.Size]byte
	for i, far := range []*net.TCPConn{a.far, b.far} {
		far.SetDeadline(time.Now().Add(patience))
		wrote[i], read[i] = make(chan [sha256.Size]byte, 1), make(chan [sha256.Size]byte, 1)
		size := rnd.IntN(1 << (10 + rnd.IntN(12)))
		wr, rr := rand.New(rand.NewPCG(seed, uint64(i))), rand.New(rand.NewPCG(seed, uint64(i+2)))
		go func() { wrote[i] <- writeRandom(far, wr, size) }()
		go func() { read[i] <- readRandom(far, rr) }()
	}
	var up, down Flow
	for deadline := time.Now().Add(patience); !up.Done() || !down.Done(); {
		a.events()
		b.events()
		s1 := w.Pump(&up, &a.Side, &b.Side, false)
		s2 := w.Pump(&down, &b.Side, &a.Side, false)
		if s1 > Done || s2 > Done {
			t.Fatalf("Pump says %d and %d", s1, s2)
		}
		if s1 != More && s2 != More {
			wait(t, a, b)
		}
		if time.Now().After(deadline) {
			t.Fatalf("not over after %v: %+v, %+v", patience, up, down)
		}
	}
	for i := range 2 {
		if sent, got := <-wrote[i], <-read[1-i]; sent != got {
			t.Errorf("what side %d sent is not what arrived", i)
		}
	}
	for _, f := range []*Flow{&up, &down} {
		if f.held != 0 || f.pipe != 0 || f.buf != 0 {
			t.Errorf("left over: %+v", *f)
		}
	}
}

func randomSizes(rnd *rand.Rand) (z sizes) {
	for _, n := range []*int{&z.nearIn, &z.nearOut, &z.farIn, &z.farOut} {
		if rnd.IntN(3) > 0 {
			*n = 4096 << rnd.IntN(8)
		}
	}
	return z
}

func writeRandom(c *net.TCPConn, rnd *rand.Rand, size int) [sha256.Size]byte {
	return hashed(func(h hash.Hash) {
		src := rand.NewChaCha8([32]byte{byte(size)})
		for size > 0 {
			b := make([]byte, min(size, 1+rnd.IntN(1<<rnd.IntN(19))))
			src.Read(b)
			if n, err := c.Write(b); err != nil {
				h.Write(b[:n])
				return
			}
			h.Write(b)
			size -= len(b)
			pause(rnd)
		}
		c.CloseWrite()
	})
}

func readRandom(c *net.TCPConn, rnd *rand.Rand) [sha256.Size]byte {
	return hashed(func(h hash.Hash) {
		for {
			b := make([]byte, 1+rnd.IntN(1<<rnd.IntN(19)))
			n, err := c.Read(b)
			h.Write(b[:n])
			if err == io.EOF {
				return
			}
			if err != nil {
				h.Write([]byte(err.Error()))
				return
			}
			pause(rnd)
		}
	})
}

func hashed(f func(hash.Hash)) (sum [sha256.Size]byte) {
	h := sha256.New()
	f(h)
	h.Sum(sum[:0])
	return sum
}

func pause(rnd *rand.Rand) {
	if rnd.IntN(16) == 0 {
		time.Sleep(time.Duration(rnd.IntN(2000)) * time.Microsecond)
	}
}

// wait waits a little for something that a flow can use.
func wait(t *testing.T, a, b *socket) {
	for range 40 {
		a.events()
		b.events()
		if a.Ready&sys.In != 0 && b.Ready&sys.Out != 0 || b.Ready&sys.In != 0 && a.Ready&sys.Out != 0 {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}
