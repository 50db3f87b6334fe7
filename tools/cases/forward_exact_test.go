package cases

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/bench/wire"
	"penstock/tools/impair"
)

// Limits are exact over many connections on a link that loses, repeats and
// reorders, with clients and servers that reset, close in any order, and clients
// that vanish in the midst of it: no server ever has more than it may, and at the
// end every counter is zero.
func TestForwardLimitsAreExact(t *testing.T) {
	forwardOnly(t)
	workers, total := count(60, 900), count(4000, 1_000_000)
	if testing.Short() {
		total = 1000
	}
	limit, poolLimit := count(20, 200), count(30, 300)
	l, wires := badLink(t, impair.Faults{
		Loss: 0.01, Repeat: 0.01, Reorder: 0.02, Late: 3 * time.Millisecond, Delay: time.Millisecond, Seed: 3,
	})
	all := &census{limit: poolLimit}
	var servers []*server
	var members []string
	for _, name := range []string{"A", "B"} {
		s := listen(t, name, whimsical)
		all.watch(s, limit)
		servers, members = append(servers, s), append(members, s.limit(limit))
	}
	p := setup{
		virtual: "idle-timeout=1s,half-close-timeout=1s,syn-proof=off", pool: "queue-time-limit=0,connection-limit=" + itoa(poolLimit),
		members: members, link: l,
	}.start(t)
	var left atomic.Int64
	left.Store(int64(total))
	var busy sync.WaitGroup
	for seed := range workers {
		busy.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(seed)))
			for left.Add(-1) >= 0 && !t.Failed() {
				p.whim(r)
			}
		})
	}
	gone := newVanishing(t, p)
	for i := 0; left.Load() > 0 && !t.Failed(); i++ {
		gone.one(i)
		time.Sleep(200 * time.Millisecond) // each may have a slot for seconds
	}
	busy.Wait()
	there, back := wires.Counts()
	t.Logf("%d came to a server, %d at once at the most; frames there %+v, back %+v", all.came.Load(), all.most.Load(), there, back)
	await(t, patience, "in use 0", func() bool { return p.inUse() == 0 && p.depth() == 0 })
	for _, s := range servers {
		p.nothingLeft(s)
		if n := s.now.Load(); n != 0 {
			t.Errorf("%d are still at %s", n, s.name)
		}
	}
	if n := all.most.Load(); n < int64(poolLimit)*2/3 {
		t.Errorf("only %d at once", n)
	}
}

// whimsical ends a connection in one of several ways.
func whimsical(v *visit) {
	v.SetDeadline(time.Now().Add(patience))
	v.greet()
	switch r := rand.IntN(10); {
	case r < 5:
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		v.end()
	case r < 8: // for the client to end
		io.Copy(io.Discard, v)
		v.end()
	case r < 9:
		v.CloseWrite()
		io.Copy(io.Discard, v)
		v.end()
	default:
		v.reset()
	}
}

// whim connects once and ends that in one of several ways.
func (p *proxy) whim(r *rand.Rand) {
	c, err := p.dial("127.0." + itoa(r.IntN(250)) + ".1")
	if err != nil {
		p.t.Error(err)
		return
	}
	defer c.Close()
	switch n := r.IntN(20); {
	case n < 1: // wherever it is
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		c.reset()
	case n < 10:
		c.greeting(patience)
		c.CloseWrite()
		c.ends(patience)
	case n < 15:
		c.greeting(patience)
		c.ends(2 * time.Second)
	case n < 18:
		c.greeting(patience)
		c.reset()
	default:
		c.say("bye\n")
		c.CloseWrite()
		c.ends(patience)
	}
}

// census counts who is at several servers, and judges when somebody comes.
type census struct {
	limit      int // of all together
	came, most atomic.Int64
	mu         sync.Mutex
	servers    []*server
}

// watch judges a server by its own limit, too.
func (c *census) watch(s *server, limit int) {
	c.servers = append(c.servers, s)
	s.watch(func(*visit) {
		c.came.Add(1)
		c.mu.Lock()
		defer c.mu.Unlock()
		sum := 0
		for _, other := range c.servers {
			n := int(other.now.Load())
			if other == s && n > limit {
				if n = s.alive() + 1; n > limit {
					s.t.Errorf("%d are at %s; the limit is %d", n, s.name, limit)
				}
			}
			sum += n
		}
		if sum > c.limit {
			sum = 1
			for _, other := range c.servers {
				sum += other.alive()
			}
			if sum > c.limit {
				s.t.Errorf("%d are at all servers; the limit is %d", sum, c.limit)
			}
		}
		c.most.Store(max(c.most.Load(), int64(sum)))
	}, nil)
}

// alive counts the connections that the server's kernel has. Who was reset may
// not have found out yet.
func (s *server) alive() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.open {
		raw, err := v.SyscallConn()
		if err != nil {
			continue // closed meanwhile
		}
		raw.Control(func(fd uintptr) {
			if stateOf(int(fd)) != closed {
				n++
			}
		})
	}
	return n
}

// vanishing are clients that say nothing more from one moment to the next.
type vanishing struct {
	*stranger
}

// newVanishing plugs them into the bridge of a bad link.
func newVanishing(t testing.TB, p *proxy) *vanishing {
	t.Helper()
	n := itoa(p.link.n)
	p.link.ip("link add pn7-g"+n+" type veth peer name pn7-h"+n, "link set pn7-h"+n+" master pn7-b"+n)
	t.Cleanup(func() { exec.Command("ip", "link", "delete", "pn7-g"+n).Run() })
	for _, dev := range []string{"pn7-g" + n, "pn7-h" + n} {
		os.WriteFile("/proc/sys/net/ipv6/conf/"+dev+"/disable_ipv6", []byte("1"), 0)
		p.link.ip("link set " + dev + " up")
	}
	return &vanishing{newStrangerOn(t, p, "pn7-g"+n)}
}

// one is gone after the SYN, after it was answered, or when it was connected.
func (s *vanishing) one(i int) {
	s.t.Helper()
	g := syn(s.from(i))
	s.say(g)
	if i%3 == 0 {
		return
	}
	h, ok := s.heard(g.From, 100*time.Millisecond)
	if !ok || h.Flags != wire.SYN|wire.ACK || i%3 == 1 {
		return
	}
	s.say(wire.Segment{
		From: g.From, Seq: g.Seq + 1, Ack: h.Seq + 1, Flags: wire.ACK, Window: 500, Stamped: true, Stamp: g.Stamp, Echo: h.Stamp,
	})
}
