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
	local, remote string // IP:PORT
	state         int
	received      int // bytes not read; for a listener: connections not accepted
	inode         int // 0: nobody has a descriptor for it
}

// States in the table; see include/net/tcp_states.h.
const (
	established = 1
	synSent     = 2
	closeWait   = 8
	listening   = 10
)

// sockets reads the kernel's table for IPv4.
func sockets(t testing.TB) (all []socket) {
	t.Helper()
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan(); lines.Scan(); {
		w := strings.Fields(lines.Text())
		var s socket
		var sent int
		s.local, s.remote = hexAddr(w[1]), hexAddr(w[2])
		fmt.Sscanf(w[3], "%x", &s.state)
		fmt.Sscanf(w[4], "%x:%x", &sent, &s.received)
		fmt.Sscanf(w[9], "%d", &s.inode)
		all = append(all, s)
	}
	return all
}

// hexAddr reads an address as 0100007F:1F90.
func hexAddr(s string) string {
	var ip [4]byte
	var port uint16
	fmt.Sscanf(s, "%2x%2x%2x%2x:%x", &ip[3], &ip[2], &ip[1], &ip[0], &port)
	return netip.AddrPortFrom(netip.AddrFrom4(ip), port).String()
}

// dialling counts the dials to addr that have no answer yet.
func dialling(t testing.TB, addr string) (n int) {
	for _, s := range sockets(t) {
		if s.state == synSent && s.remote == addr {
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
	raw, err := c.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	var info *unix.TCPInfo
	raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err != nil {
		c.t.Fatal(err)
	}
	// Two halves of a byte between Options and Rto: the peer's, and ours.
	return *(*uint8)(unsafe.Add(unsafe.Pointer(info), 6)) & 15
}
