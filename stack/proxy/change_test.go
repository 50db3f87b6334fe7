package proxy

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"penstock/lb/dispatch"
)

// Clients and servers that do everything at random, while everything that can
// be changed is. Each session ends once, and in the end nothing is in use.
func TestChaosOfChanges(t *testing.T) {
	const clients = 24
	each := 60
	if testing.Short() {
		each = 10
	}
	s := serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(500 * time.Millisecond))
		misbehave(c, rand.New(rand.NewPCG(rand.Uint64(), 0)))
	})
	r := start(t, loops(4), member(s.addr(), 6), member(s.addr(), 0), member(refuser(t), 0), tries(2),
		idle(100*time.Millisecond), halfClose(50*time.Millisecond),
		pool(func(p *Pool) { p.ConnectTimeout = 50 * time.Millisecond }),
		queue(func(p *dispatch.PoolConfig) {
			p.Limit = 12
			p.QueueTime = dispatch.Tick(100 * time.Millisecond)
			p.WhenDownTime = dispatch.Tick(50 * time.Millisecond)
		}))
	over := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		c := changer{rig: r, server: s, rnd: rand.New(rand.NewPCG(7, 0))}
		for n := 0; ; n++ {
			select {
			case <-over:
				t.Logf("%d changes", n)
				c.undo()
				return
			default:
				c.once()
			}
			seen := r.VirtualTotals(0).Connections
			for r.VirtualTotals(0).Connections == seen && !closed(over) { // so that there is something between two
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	var running sync.WaitGroup
	for i := range uint64(clients) {
		running.Go(func() {
			rnd := rand.New(rand.NewPCG(i, 0))
			for range each {
				c, err := net.DialTimeout("tcp", r.addr().String(), patience)
				if err != nil {
					continue
				}
				c.SetDeadline(time.Now().Add(500 * time.Millisecond))
				misbehave(c.(*net.TCPConn), rnd)
				c.Close()
			}
		})
	}
	running.Wait()
	close(over)
	changing.Wait()
	defer func() {
		if t.Failed() {
			r.dump()
		}
	}()
	r.forgotten()
	// Some may wait in the backlog still, whose clients have left.
	until(t, func() bool {
		return r.Clients() == 0 && r.inUse() == 0 && r.parked() == 0 && uint64(len(r.ended)) == r.VirtualTotals(0).Connections
	}, "idle proxy, and an end of each session")
	t.Log(r.codes(r.VirtualTotals(0).Connections))
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// changer changes things at random.
type changer struct {
	*rig
	server   *server
	rnd      *rand.Rand
	members  []int
	virtuals []int
}

func (c *changer) once() {
	switch c.rnd.IntN(11) {
	case 0:
		if len(c.members) < 5 {
			c.members = append(c.members, c.addMember(c.server.addr(), int64(c.rnd.IntN(4))))
		}
	case 1:
		if n := len(c.members); n > 0 {
			c.removeMember(c.members[0])
			c.members = c.members[1:]
		}
	case 2:
		id, _ := c.addVirtual(anyPort())
		c.virtuals = append(c.virtuals, id)
	case 3:
		if n := len(c.virtuals); n > 0 {
			c.removeVirtual(c.virtuals[0])
			c.virtuals = c.virtuals[1:]
		}
	case 4:
		c.move()
	case 5:
		c.down(c.rnd.IntN(2), c.ResetMember)
	case 6:
		c.down(c.rnd.IntN(2), c.ReselectMember)
	case 7, 8:
		c.up()
	case 9:
		c.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
			d.Flush(now, 0, func(w *dispatch.WaiterView) bool { return c.rnd.IntN(8) == 0 })
			d.Pause(now, 0, c.rnd.IntN(8) == 0)
		})
	case 10:
		c.change(func(*dispatch.Dispatcher, dispatch.Tick) {
			c.Forget(nil)
			v := c.Proxy.virtuals[0]
			v.IdleTimeout = time.Duration(20+c.rnd.IntN(80)) * time.Millisecond
			c.SetVirtual(0, v)
		})
	}
}

// move has the first virtual server listen elsewhere.
func (c *changer) move() {
	c.isolated(func(int64) {
		if err := c.Open(Opening{0, c.Proxy.virtuals[0]}); err != nil {
			c.t.Error(err)
		}
	})
}

func (c *changer) up() {
	c.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.SetMemberUp(now, 0, true)
		d.SetMemberUp(now, 1, true)
	})
}

func (c *changer) undo() {
	for _, id := range c.members {
		c.removeMember(id)
	}
	for _, id := range c.virtuals {
		c.removeVirtual(id)
	}
	c.up()
	c.change(func(d *dispatch.Dispatcher, now dispatch.Tick) { d.Pause(now, 0, false) })
}
