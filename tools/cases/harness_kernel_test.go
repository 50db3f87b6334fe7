package cases

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock/bench/proc"
)

// socket is a line of the kernel's table of TCP sockets.
type socket struct {
	from     bool // the address asked for is its own, not its peer's
	state    int
	received int // bytes not read; of a listener: connections not accepted
}

// sockets reads the lines of the kernel's table that have addr, an IPv4 one,
// on either side.
func sockets(t testing.TB, addr string) (all []socket) {
	t.Helper()
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	key := hexAddr(t, addr)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if !strings.Contains(lines.Text(), key) {
			continue
		}
		w := strings.Fields(lines.Text())
		s := socket{from: w[1] == key}
		var sent int
		fmt.Sscanf(w[3], "%x", &s.state)
		fmt.Sscanf(w[4], "%x:%x", &sent, &s.received)
		all = append(all, s)
	}
	return all
}

// hexAddr writes an address as the table does: 0100007F:1F90.
func hexAddr(t testing.TB, addr string) string {
	t.Helper()
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	ip := a.Addr().As4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], a.Port())
}

// dialling counts the dials to addr that have no answer yet, those that are there
// all at one moment: they are told one by one while they come and go. With
// mode=forward they are the clients' own, and the proxy is believed: nobody is
// connected where this is asked. TestForwardHoldsSlots counts SYNs.
func (p *proxy) dialling(addr string) (n int) {
	p.t.Helper()
	if *forward {
		return p.inUse()
	}
	before := dialsTo(p.t, addr)
	for from := range dialsTo(p.t, addr) {
		if before[from] {
			n++
		}
	}
	return n
}

// cpuShare returns which part of one CPU the proxy uses in a span of time.
func (p *proxy) cpuShare(span time.Duration) float64 {
	p.t.Helper()
	before, err := proc.CPU(p.pid())
	if err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(span)
	after, _ := proc.CPU(p.pid())
	return float64(after-before) / float64(span)
}

// rests says that the proxy uses no more than a part of one CPU, in one of some
// spans at least: who turns does so in all of them, and what is left to do is done
// in the first.
func (p *proxy) rests(what string, most float64, span time.Duration) {
	p.t.Helper()
	share := p.cpuShare(span)
	for i := 0; i < 4 && share > most; i++ {
		share = min(share, p.cpuShare(span))
	}
	p.t.Logf("%s: %.2f %% of a CPU", what, 100*share)
	if share > most {
		p.t.Errorf("%s: it uses %.2f %% of a CPU", what, 100*share)
	}
}

// memory returns the proxy's resident memory in bytes.
func (p *proxy) memory() int64 {
	p.t.Helper()
	b, err := proc.Memory(p.pid())
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// unsent returns how many bytes the peer's kernel has not yet taken from a
// client's socket.
func (c *client) unsent() int {
	c.t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	n := 0
	raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// windowScale returns the scale that the proxy offered the client.
func (c *client) windowScale() uint8 {
	c.t.Helper()
	info := c.info()
	// Two halves of a byte between Options and Rto: the peer's, and ours.
	return *(*uint8)(unsafe.Add(unsafe.Pointer(info), 6)) & 15
}
