package cases

import (
	"encoding/json"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk is one connection of a proxy, as its client and its server see it.
type talk struct {
	*testing.T
	c        *client
	v        *visit
	up, down int // bytes that have been said
}

// tell has the client say n bytes, which the server reads; answer is the other way.
func (k *talk) tell(n int)   { k.Helper(); k.move(k.c, k.v, n); k.up += n }
func (k *talk) answer(n int) { k.Helper(); k.move(k.v, k.c, n); k.down += n }

func (k *talk) move(from io.Writer, to net.Conn, n int) {
	k.Helper()
	go from.Write(make([]byte, n))
	to.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.CopyN(io.Discard, to, int64(n)); err != nil {
		k.Errorf("%d of %d bytes, %v", got, n, err)
	}
}

// over says how each side finds that it is over, and closes both.
func (k *talk) over(client, server ending) {
	k.Helper()
	if client != "" {
		if how, text := k.c.ends(patience); how != client || text != "" {
			k.Errorf("the client sees %s, and %d bytes; want %s", how, len(text), client)
		}
	}
	k.c.Close()
	if server != "" {
		k.v.SetReadDeadline(time.Now().Add(patience))
		if b, err := io.ReadAll(k.v); endOf(err) != server || len(b) > 0 {
			k.Errorf("the server sees %s, and %d bytes; want %s", endOf(err), len(b), server)
		}
	}
	k.v.end()
}

// endings are the ways in which a forwarded connection ends, and how each is
// told.
var endings = []struct {
	name         string
	end          func(k *talk)
	code, closer string
}{
	{"client closes", func(k *talk) { k.c.CloseWrite(); k.over("", byFIN) }, "--", "client"},
	{"server closes", func(k *talk) { k.v.CloseWrite(); k.over(byFIN, byFIN) }, "SC", "server"},
	{"client has said all, server goes on", func(k *talk) {
		k.c.CloseWrite()
		for range 3 {
			k.answer(100_000)
		}
		k.v.CloseWrite()
		k.over(byFIN, byFIN)
	}, "--", "client"},
	{"server has said all, client goes on", func(k *talk) {
		k.v.CloseWrite()
		for range 3 {
			k.tell(100_000)
		}
		k.over(byFIN, byFIN)
	}, "SC", "server"},
	{"client resets", func(k *talk) { k.c.reset(); k.over("", byReset) }, "CR", "client"},
	{"server resets", func(k *talk) { k.v.SetLinger(0); k.v.Close(); k.over(byReset, "") }, "SR", "server"},
	{"client resets after its end", func(k *talk) {
		k.c.CloseWrite()
		k.v.rest()
		k.c.reset()
		k.closedAt("the server", k.v.TCPConn) // or its own end might be told first
		k.over("", "")
	}, "CR", "client"},
	{"server resets after its end", func(k *talk) {
		k.v.CloseWrite()
		k.c.ends(patience)
		k.v.SetLinger(0)
		k.v.Close()
		k.closedAt("the client", k.c.TCPConn)
		k.over("", "")
	}, "SR", "server"},
	{"client closes, and has not read all", func(k *talk) {
		k.v.Write(make([]byte, 1000))
		k.down += 1000
		await(k, patience, "they are there", func() bool { return k.c.info().Bytes_received == uint64(k.down) })
		k.c.Close()
		k.over("", byReset)
	}, "CR", "client"},
	{"both close at once", func(k *talk) {
		together(func() { k.c.CloseWrite() }, func() { k.v.CloseWrite() })
		k.over(byFIN, byFIN)
	}, "", ""},
}

// Each way to end gives the slot back, with the right word in the log, every
// byte counted, and nothing left in any counter.
func TestForwardEndings(t *testing.T) {
	forwardOnly(t)
	for _, at := range []string{"127.0.0.1", "[::1]"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			a := listenFor(t, at, "A", nil)
			p := setup{virtual: "listen=" + at + ":0", members: []string{a.limit(1)}}.start(t)
			for i, way := range endings {
				p.talkedTo(t, a, i, way.name, way.code, way.closer, way.end)
			}
		})
	}
}

// talkedTo plays one ending and looks at what there is to say of it.
func (p *proxy) talkedTo(t *testing.T, a *server, i int, name, code, closer string, end func(k *talk)) {
	t.Helper()
	k := &talk{T: t, c: p.connect(), v: a.next(patience)}
	k.c.connected(patience)
	k.tell(8)
	k.answer(1000)
	if n := p.inUse(); n != 1 {
		t.Errorf("%s: in use %d; want 1", name, n)
	}
	end(k)
	await(t, atOnce, name+": in use 0", func() bool { return p.inUse() == 0 })
	lines := p.awaitLog(i + 1)
	line := lines[i]
	if code != "" && (line["code"] != code || line["closer"] != closer) {
		t.Errorf("%s: ended with %s by %s; want %s by %s", name, line["code"], line["closer"], code, closer)
	}
	if line["up"] != itoa(k.up) || line["down"] != itoa(k.down) {
		t.Errorf("%s: %s bytes up, %s down; want %d, %d", name, line["up"], line["down"], k.up, k.down)
	}
	if line["packets_up"] == "" || line["packets_down"] == "" {
		t.Errorf("%s: %s packets up, %s down", name, line["packets_up"], line["packets_down"])
	}
	if line["client"] != k.c.LocalAddr().String() || line["member"] != a.addr || line["position"] != "0" || line.span("wait") != 0 {
		t.Errorf("%s: %v", name, line)
	}
	if d := line.span("connect"); d <= 0 || d > atOnce+stalled(k.c.at) {
		t.Errorf("%s: connected after %s", name, line["connect"])
	}
	p.nothingLeft(a)
}

// nothingLeft says that all that counts what is there now is zero.
func (p *proxy) nothingLeft(a *server) {
	p.t.Helper()
	await(p.t, atOnce, "nobody is at the virtual server, nor at the member", func() bool {
		var v struct{ Connections struct{ Current int } }
		if err := json.Unmarshal([]byte(p.api.get("/v1/virtuals/v")), &v); err != nil {
			p.t.Fatal(err)
		}
		return v.Connections.Current == 0 && p.member(a).Connections.Current == 0
	})
	var left []string
	if !happens(atOnce, func() bool { left = p.notZero(); return len(left) == 0 }) {
		p.t.Errorf("not zero: %v", left)
	}
}

// present are the metrics of what is there now.
var present = regexp.MustCompile(`_(connections|clients|parked|parked_proven|depth)\{`)

func (p *proxy) notZero() (all []string) {
	p.t.Helper()
	for line := range strings.Lines(p.api.get("/metrics")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if present.MatchString(name) && value != "0" {
			all = append(all, name+" "+value)
		}
	}
	return all
}

// A connection that is silent is reset on both sides, and so is one that has
// been half closed for too long.
func TestForwardTimeouts(t *testing.T) {
	forwardOnly(t)
	const limit = 1500 * time.Millisecond
	for _, way := range []struct {
		name, key, code string
		end             func(k *talk)
	}{
		{"idle", "idle-timeout", "IT", func(k *talk) { k.answer(10) }},
		{"half-closed by the client", "half-close-timeout", "HT", func(k *talk) { k.c.CloseWrite(); k.v.rest() }},
		{"half-closed by the server", "half-close-timeout", "HT", func(k *talk) { k.v.CloseWrite(); k.c.ends(patience) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{virtual: way.key + "=" + limit.String(), members: []string{a.limit(1)}}.start(t)
			p.talkedTo(t, a, 0, way.name, way.code, "proxy", func(k *talk) {
				since := time.Now()
				way.end(k)
				k.cutOff()
				between(t, "its end", time.Since(since), limit-50*time.Millisecond, limit+100*time.Millisecond)
			})
		})
	}
}

// cutOff says that both sides have been reset, and closes them.
func (k *talk) cutOff() {
	k.Helper()
	k.closedAt("the client", k.c.TCPConn)
	since := time.Now()
	k.closedAt("the server", k.v.TCPConn)
	inTime(k, "the server is reset", since, atOnce)
	k.c.Close()
	k.v.end()
}

// closedAt waits until a reset has come to one side.
func (k *talk) closedAt(side string, c *net.TCPConn) {
	k.Helper()
	await(k, patience, side+" is reset", func() bool { return kernelState(k, c) == closed })
}

// kernelState is the state in which the kernel has a socket; closed, while there
// still is one, is what a reset makes it.
func kernelState(t testing.TB, c *net.TCPConn) (state int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { state = stateOf(int(fd)) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// Who has to end connections resets both sides: an operator that deletes a
// member now, a monitor with service-down-action=reset, the end of drain-time.
func TestForwardCutOff(t *testing.T) {
	forwardOnly(t)
	for _, way := range []struct {
		name, pool, code string
		cut              func(p *proxy, a *patient)
	}{
		{"deleted", "", "SD", func(p *proxy, a *patient) { p.remove(a.server, "?now=true") }},
		{"down", patiently + ",service-down-action=reset", "SD", (*proxy).falls},
		{"drained", "", "DR", func(p *proxy, a *patient) { p.signal(syscall.SIGTERM) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := newPatient(t, "A")
			p := setup{
				pool: way.pool, members: []string{a.limit(1)}, flags: []string{"-drain-time", "500ms"},
			}.start(t)
			if way.pool != "" {
				await(t, patience, "a good check", func() bool { return a.good.Load() > 0 })
			}
			c := p.connect()
			c.say("hello\n")
			v := a.guest(patience)
			way.cut(p, a)
			(&talk{T: t, c: c, v: v}).cutOff()
			p.ended(way.code)
			if way.name == "drained" {
				await(t, patience, "it ends", p.gone)
			}
		})
	}
}

// A member that is disabled or offline, or down without an action, keeps its
// connections, and they work.
func TestForwardStays(t *testing.T) {
	forwardOnly(t)
	for _, state := range []string{"disabled", "offline", "down"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			a := newPatient(t, "A")
			p := setup{pool: patiently, members: []string{a.limit(1)}}.start(t)
			c := p.connect()
			c.say("hello\n")
			v := a.guest(patience)
			if state == "down" {
				p.falls(a)
			} else {
				p.state(a.server, state)
			}
			k := &talk{T: t, c: c, v: v}
			k.tell(300_000)
			k.answer(300_000)
			if n := p.inUse(); n != 1 {
				t.Errorf("in use %d", n)
			}
			c.CloseWrite()
			k.over("", byFIN)
			await(t, atOnce, "in use 0", func() bool { return p.inUse() == 0 })
		})
	}
}
