package cases

import (
	"net/netip"
	"sync"
	"testing"
	"time"
)

// families are places to listen at for clients of either.
var families = []string{"127.0.0.1", "[::1]"}

// Servers see one of the addresses that stand for clients, and no two clients
// have the same address and port.
func TestForwardSNAT(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			const clients, stands = 90, 3
			six := at != families[0]
			a := listenFor(t, at, "A", nil)
			l := newLink(t)
			l.reach()
			snat := ",snat="
			mine := map[netip.Addr]int{}
			for i := range stands {
				if i > 0 {
					snat += "/"
				}
				snat += l.stand(six, i).String()
				mine[l.stand(six, i)] = 0
			}
			p := setup{virtual: "listen=" + at + ":0" + snat, members: []string{a.addr}, link: l}.start(t)
			seen := map[netip.AddrPort]bool{}
			for _, v := range p.fill(a, clients) {
				from := addrPort(v.RemoteAddr())
				if _, ok := mine[from.Addr()]; !ok || from.Port() < 1024 || seen[from] {
					t.Errorf("a client at %v", from)
				}
				mine[from.Addr()]++
				seen[from] = true
				v.end()
			}
			t.Logf("%v", mine)
		})
	}
}

// Without SNAT servers see clients' own addresses and ports, and all goes
// through, both ways.
func TestForwardOwnAddress(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			l := newLink(t)
			a := newFar(t, l).listen("A", at != families[0], nil)
			p := setup{virtual: "snat=none,listen=" + at + ":0", members: []string{a.limit(2)}, link: l}.start(t)
			source := map[string]string{families[0]: "127.0.77.1"}[at] // one that is no neighbour of penstock's
			for range 3 {
				c := p.from(source)
				v := a.next(patience)
				if from, want := addrPort(v.RemoteAddr()), addrPort(c.LocalAddr()); from != want {
					t.Errorf("the server sees %v; the client is %v", from, want)
				}
				go echo(v)
				c.echoed(1, count(1<<20, 64<<20))
			}
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
			p.nothingLeft(a)
		})
	}
}

// A device that is moved to the servers' namespace after it was opened goes on
// to work there; so does one that has come back.
func TestForwardServersMoved(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	l := newLink(t)
	f := emptyFar(t, l)
	l.newArm()
	l.arm.direct = true
	p := setup{virtual: "snat=none", pool: "when-down=queue,connect-timeout=20s", link: l, grumbles: true}.start(t)
	l.ip("link set ARM netns " + f.path())
	f.settle(l.arm.dev)
	a := f.listen("A", false, echo)
	p.add(a, 2)
	p.connect().echoed(1, 1<<20)
	f.inside(func() error { return run("", "ip", "link", "set", l.arm.dev, "down") })
	c := p.connect()
	never(t, 300*time.Millisecond, "it is connected", func() bool { return !c.connecting() })
	f.settle(l.arm.dev)
	c.echoed(2, 1<<20)
	p.connect().echoed(3, 1<<20)
	await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
}

// The addresses that stand for clients may change: connections have those that
// there were when they began.
func TestForwardSNATChanges(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	l := newLink(t)
	l.reach()
	p := setup{members: []string{a.addr}, link: l}.start(t)
	k := &talk{T: t, c: p.connect(), v: a.next(patience)}
	p.patch("/v1/virtuals/v", "snat", l.stand(false, 7).String())
	next := &talk{T: t, c: p.connect(), v: a.next(patience)}
	for i, k := range map[int]*talk{0: k, 7: next} {
		if from := addrPort(k.v.RemoteAddr()).Addr(); from != l.stand(false, i) {
			t.Errorf("the server sees %v; want %v", from, l.stand(false, i))
		}
		k.tell(10_000)
		k.answer(10_000)
		k.c.CloseWrite()
		k.over("", byFIN)
	}
	await(t, atOnce, "in use 0", func() bool { return p.inUse() == 0 })
	p.nothingLeft(a)
}

// All addresses of penstock answer a ping, and so whoever asks for them finds
// them.
func TestForwardPings(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.addr}, flags: []string{
		"-virtual", "six,listen=[::1]:0,pool=q", "-pool", "q,monitor=none",
	}}.start(t)
	p.awaitLine("virtual=six")
	for _, six := range []bool{false, true} {
		pinged(t, p.link.virtual(six))
		pinged(t, p.link.stand(six, 0))
	}
	pinged(t, p.link.at(2))
	pinged(t, p.link.at6(2))
	pinged(t, p.link.atA(1))
	pinged(t, p.link.atA6(1))
}

// With clients and servers on one device.
func TestForwardOneArmed(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			a := listenFor(t, at, "A", echo)
			l := newLink(t)
			l.oneArmed = true
			p := setup{virtual: "listen=" + at + ":0", members: []string{a.limit(2)}, link: l}.start(t)
			var all sync.WaitGroup
			for i := range 6 {
				c := p.connect()
				all.Go(func() { c.echoed(byte(i), count(2<<20, 64<<20)) })
			}
			all.Wait()
			if n := a.most.Load(); n != 2 {
				t.Errorf("most %d; want 2", n)
			}
		})
	}
}

// Both families at once, each with its servers.
func TestForwardFamilies(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a, b := listenFor(t, families[0], "A", hold), listenFor(t, families[1], "B", hold)
	p := setup{members: []string{a.limit(2)}, flags: []string{
		"-virtual", "six,listen=[::1]:0,pool=q", "-pool", "q,monitor=none", "-member", b.addr + ",pool=q,connection-limit=2",
	}}.start(t)
	six := &proxy{t: t, addr: fields(p.awaitLine("virtual=six"))["address"]}
	four := &proxy{t: t, addr: fields(p.awaitLine("virtual=v"))["address"]}
	for i := range 6 {
		at, want := four, "A"
		if i%2 == 1 {
			at, want = six, "B"
		}
		c := at.connect()
		if name := c.served(patience); name != want {
			t.Errorf("served by %s; want %s", name, want)
		}
		if got := c.RemoteAddr().String(); got != at.addr {
			t.Errorf("connected to %s", got)
		}
		c.Close()
	}
	p.awaitLog(6)
}

// The same addresses and ports connect again, where the server sees them: at
// once after a reset, from whichever side, and after an orderly end, while the
// server still remembers the last one.
func TestForwardSamePortAgain(t *testing.T) {
	forwardOnly(t)
	for name, end := range map[string]func(c *client, v *visit){
		"client resets": func(c *client, v *visit) { c.reset(); v.rest(); v.end() },
		"server resets": func(c *client, v *visit) { v.reset(); c.refused(patience); c.Close() },
		"server closes": func(c *client, v *visit) { v.end(); c.ends(patience); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLink(t)
			a := newFar(t, l).listen("A", false, nil)
			p := setup{virtual: "snat=none", members: []string{a.limit(1)}, link: l}.start(t)
			from := l.at(1).String() + ":4000"
			for i := range count(50, 500) {
				var c *client
				await(t, patience, "the kernel lets go of the port", func() (ok bool) {
					var err error
					c, err = p.dial(from)
					return err == nil
				})
				v := a.next(patience)
				between(t, "served", time.Since(c.at), 0, 100*time.Millisecond)
				c.connected(patience)
				k := &talk{T: t, c: c, v: v}
				k.tell(100 + i)
				k.answer(2000)
				end(c, v)
			}
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
			for i, line := range p.awaitLog(50) {
				if line["up"] != itoa(100+i) || line["down"] != "2000" {
					t.Errorf("connection %d: %s bytes up, %s down", i, line["up"], line["down"])
				}
			}
		})
	}
}
