package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"penstock/bench/client"
	"penstock/bench/peer"
	"penstock/bench/result"
	"penstock/bench/scenario"
	"penstock/bench/stage"
	"penstock/bench/tally"
)

// site is one of a case's copies: servers, a proxy before them, and clients.
type site struct {
	servers []*stage.Child
	proxy   *stage.Child // nil if there is none
	setup   peer.Setup
	target  netip.AddrPort // for clients
	link    *stage.Link    // between clients and the proxy, and perhaps behind it; nil: that is loopback
	clients []*actor
}

// places are where clients and servers are.
func (st *site) places(s *stage.Stage) (clients, servers *stage.Place) {
	if st.link != nil {
		return st.link.Clients, st.link.Servers
	}
	return s.Place, s.Place
}

// actor is one client process.
type actor struct {
	line *scenario.Client
	late bool // it comes when all others have done their work
	*stage.Child

	standing bool          // it has all connections that it will have
	stood    int           // so many
	saw      *tally.Client // nil until it is done
}

func (a *actor) holds() bool { return a.line.Holds() }

func (a *actor) err(err error) error { return of("client", a.line.Name, err) }

// of says whose error it is, of those that a scenario may name.
func of(what, name string, err error) error {
	return fmt.Errorf("%s: %w", strings.TrimSpace(what+" "+name), err)
}

// prompt is how long a process may take to come up, or to answer.
const prompt = 20 * time.Second

// raise starts the site's servers and proxy and returns when they listen. The
// site is to be struck, after an error too.
func (p *play) raise(ctx context.Context, number int) (*site, error) {
	st := new(site)
	dir := filepath.Join(p.Stage.Dir, fmt.Sprintf("site%d", number))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return st, err
	}
	st.setup = peer.Setup{Dir: dir, Listen: p.Stage.Address(), Connections: crowd(p.c), Loops: p.c.Loops,
		Reloads: p.c.Every > 0, More: p.c.More(p.peer.Name())}
	if p.c.Link {
		if err := p.join(st); err != nil {
			return st, err
		}
	}
	for i := range p.c.Servers {
		if err := p.serve(ctx, st, &p.c.Servers[i]); err != nil {
			return st, of("server", p.c.Servers[i].Name, err)
		}
	}
	argv, err := p.peer.Command(st.setup)
	if err != nil {
		return st, err
	}
	if st.target = st.setup.Members[0].Address; len(argv) == 0 {
		return st, nil
	}
	st.target = st.setup.Listen
	if st.proxy, err = p.Stage.Start(ctx, argv...); err != nil {
		return st, err
	}
	return st, p.open(ctx, st)
}

// open returns when the proxy is reached by clients, and servers by the proxy.
func (p *play) open(ctx context.Context, st *site) error {
	tapped := st.setup.Tap != nil
	if !tapped {
		if err := p.Stage.Listening(ctx, st.target, st.proxy, prompt); err != nil {
			return err
		}
	}
	if p.c.Links {
		if err := p.part(ctx, st); err != nil {
			return err
		}
	}
	if tapped {
		return st.link.Answers(ctx, st.proxy, prompt)
	}
	return nil
}

// part moves the devices of a proxy that has opened them, and has those servers
// come which need one.
func (p *play) part(ctx context.Context, st *site) error {
	for deadline := time.Now().Add(prompt); st.setup.Tap != nil && !p.peer.(peer.Tapped).Opened(st.setup); {
		switch {
		case st.proxy.Ended():
			return fmt.Errorf("%s ended: %s", st.proxy.Name(), st.proxy.Words())
		case time.Now().After(deadline):
			return fmt.Errorf("%s has not opened its devices after %v: %s", st.proxy.Name(), prompt, st.proxy.Words())
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	if err := st.link.Part(); err != nil {
		return err
	}
	for i := range p.c.Servers {
		line := &p.c.Servers[i]
		if line.Reflect == nil {
			continue
		}
		argv := []string{"reflect", "-device", st.link.Beyond, "-listen", st.setup.Members[0].Address.String()}
		if err := p.host(ctx, st, line, argv); err != nil {
			return of("server", line.Name, err)
		}
	}
	return nil
}

// join makes the site's link, of the kind that the proxy takes clients from.
func (p *play) join(st *site) (err error) {
	const port = 80
	st.setup.Listen = netip.AddrPortFrom(stage.ProxyAddress.Addr(), port)
	_, tapped := p.peer.(peer.Tapped)
	switch links := p.c.Links && p.peer.Name() != result.Without; { // without a proxy there is nothing between two
	case tapped && links:
		st.link, err = p.Stage.Taps()
	case tapped:
		st.link, err = p.Stage.Tap()
	case links:
		st.link, err = p.Stage.Veths()
	default:
		st.link, err = p.Stage.Veth()
	}
	if err != nil || !tapped {
		return err
	}
	st.setup.Tap = &peer.Tap{Device: st.link.Device, Address: stage.ProxyAddress, Congestion: p.Stage.Congestion()}
	if st.link.Beyond != "" {
		st.setup.Tap.Servers, st.setup.Tap.Behind = st.link.Beyond, stage.ProxyBehind
	}
	return nil
}

// member is an address for a server. Where clients are to reach it without a
// proxy, it is at the proxy's end of the link.
func (p *play) member(st *site, line *scenario.Server) netip.AddrPort {
	const port = 80
	switch {
	case line.Reflect != nil:
		return netip.AddrPortFrom(stage.NobodyBehind, port)
	case st.link != nil && st.link.Beyond != "":
		return p.Stage.AddressAt(st.link.Servers, stage.ServerAddress)
	case st.link != nil && p.peer.Name() == result.Without:
		return p.Stage.AddressAt(p.Stage.Place, stage.ProxyAddress.Addr())
	}
	return p.Stage.Address()
}

// crowd is how many clients a site has at a time, at most.
func crowd(c *scenario.Case) (n int) {
	for i := range c.Clients {
		n += flows(&c.Clients[i].Config) * c.Clients[i].Count
	}
	return n
}

// flows are how many connections a client has at a time, at most. Where arrivals
// alone decide, it is as many as a process has descriptors for, about.
func flows(c *client.Config) int {
	const unlimited, usual = 15000, 64
	switch {
	case c.Flows > 0:
		return c.Flows
	case c.Open():
		return unlimited
	}
	return usual
}

// serve starts one server process with all its members. A reflector needs a device
// that is not there yet.
func (p *play) serve(ctx context.Context, st *site, line *scenario.Server) error {
	argv := []string{"server"}
	for range max(p.c.Members, 1) {
		a := p.member(st, line)
		st.setup.Members = append(st.setup.Members, peer.Member{Address: a, Limit: line.Config.Limit})
		argv = append(argv, "-listen", a.String())
	}
	if line.Reflect != nil {
		return nil
	}
	return p.host(ctx, st, line, argv)
}

// host starts a server process.
func (p *play) host(ctx context.Context, st *site, line *scenario.Server, argv []string) error {
	_, where := st.places(p.Stage)
	c, err := where.Start(ctx, slices.Concat(p.Penbench, argv, line.Args)...)
	if err != nil {
		return err
	}
	st.servers = append(st.servers, c)
	var up struct{ Listening []string }
	if err := c.Read(&up, prompt); err != nil {
		return err
	}
	if len(up.Listening) == 0 {
		return errors.New("listens nowhere")
	}
	return nil
}

// invite starts the site's clients, which wait for a word; number is that of the
// first of them in the play.
func (p *play) invite(ctx context.Context, st *site, number int) error {
	for i := range p.c.Clients {
		line := &p.c.Clients[i]
		for range line.Count {
			number++
			argv := append(append([]string(nil), p.Penbench...), p.role(st, line, number)...)
			where, _ := st.places(p.Stage)
			c, err := where.Start(ctx, argv...)
			if err != nil {
				return err
			}
			st.clients = append(st.clients, &actor{line: line, late: p.c.Late(i), Child: c})
		}
	}
	for _, a := range st.clients {
		var up report
		if err := a.Read(&up, prompt); err != nil {
			return a.err(err)
		}
	}
	return nil
}

// role are the arguments of a client; what its line says comes last and wins.
// Each client has a network of its own, 127.0.N.0/24 to connect from or a like one
// on a link, and numbers of its own to draw from, the same for every proxy in a
// round. A generator has its addresses of its own.
func (p *play) role(st *site, line *scenario.Client, number int) []string {
	last := p.c.For
	if line.Holds() {
		last = 0 // until it is told to end
	}
	argv := []string{"client"}
	n := byte(number%255 + 1)
	source := netip.AddrFrom4([4]byte{127, 0, n, 0})
	switch {
	case line.Syn != nil:
		argv = []string{"syn", "-device", st.link.Device}
	case st.link != nil:
		source = stage.ClientNet(n)
		fallthrough
	default:
		argv = append(argv, "-source", source.Next().Next().String(), "-sources", "8")
	}
	return append(append(argv, "-wait", "-target", st.target.String(),
		"-seed", strconv.Itoa(1000*(p.round+1)+number),
		"-warm", p.c.Warm.String(), "-for", last.String()), line.Args...)
}

// strike ends everything of the site.
func (st *site) strike() {
	var all []*stage.Child
	for _, a := range st.clients {
		all = append(all, a.Child)
	}
	if st.proxy != nil {
		all = append(all, st.proxy)
	}
	all = append(all, st.servers...)
	for _, c := range all {
		c.Stop()
	}
	for _, c := range all {
		c.End()
	}
	if st.link != nil {
		st.link.Close() // should it fail, the next one tells
	}
	os.RemoveAll(st.setup.Dir)
}
