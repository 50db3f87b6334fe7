package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"penstock/bench/client"
	"penstock/bench/peer"
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
	clients []*actor
}

// actor is one client process.
type actor struct {
	line *scenario.Client
	*stage.Child

	standing bool          // a holder that has all that it will have
	saw      *tally.Client // nil until it is done
}

func (a *actor) holds() bool { return a.line.Config.Work == client.Hold }

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
	return st, p.Stage.Listening(ctx, st.target, st.proxy, prompt)
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

// serve starts one server process with all its members.
func (p *play) serve(ctx context.Context, st *site, line *scenario.Server) error {
	argv := append(append([]string(nil), p.Penbench...), "server")
	for range max(p.c.Members, 1) {
		a := p.Stage.Address()
		st.setup.Members = append(st.setup.Members, peer.Member{Address: a, Limit: line.Config.Limit})
		argv = append(argv, "-listen", a.String())
	}
	c, err := p.Stage.Start(ctx, append(argv, line.Args...)...)
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
			c, err := p.Stage.Start(ctx, argv...)
			if err != nil {
				return err
			}
			st.clients = append(st.clients, &actor{line: line, Child: c})
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
// Each client has a network of its own, 127.0.N.0/24 to connect from, and numbers
// of its own to draw from, the same for every proxy in a round.
func (p *play) role(st *site, line *scenario.Client, number int) []string {
	last := p.c.For
	if line.Config.Work == client.Hold {
		last = 0 // until it is told to end
	}
	return append([]string{"client", "-wait", "-target", st.target.String(),
		"-source", netip.AddrFrom4([4]byte{127, 0, byte(number%255 + 1), 2}).String(), "-sources", "8",
		"-seed", strconv.Itoa(1000*(p.round+1) + number),
		"-warm", p.c.Warm.String(), "-for", last.String()}, line.Args...)
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
	os.RemoveAll(st.setup.Dir)
}
