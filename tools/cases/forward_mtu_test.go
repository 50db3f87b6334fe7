package cases

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"
)

// narrow is a network namespace of clients', behind the kernel as a router. The
// wire to them takes smaller packets than they say themselves.
//
//	client 172.29.N.2 | pn7-lN | pn7-kN, both with an MTU of 1300 | the kernel | pn7-N | penstock
type narrow struct {
	*far
	four, six netip.Addr
}

func newNarrow(t testing.TB, l *link) *narrow {
	t.Helper()
	n := itoa(l.n)
	four := func(host byte) netip.Addr { return netip.AddrFrom4([4]byte{172, 29, byte(l.n), host}) }
	six := func(host byte) netip.Addr { return netip.AddrFrom16([16]byte{0: 0xfd, 1: 3, 3: byte(l.n), 15: host}) }
	s := &narrow{far: emptyFar(t, l), four: four(2), six: six(2)}
	t.Cleanup(func() { exec.Command("ip", "link", "delete", "pn7-k"+n).Run() })
	l.ip(
		"link add pn7-k"+n+" type veth peer name pn7-l"+n,
		"link set pn7-l"+n+" netns "+s.path(),
		"link set pn7-k"+n+" mtu 1300 up",
		fmt.Sprintf("address replace %v/24 dev pn7-k%s", four(1), n),
		fmt.Sprintf("address replace %v/64 dev pn7-k%s nodad", six(1), n),
	)
	for _, dev := range []string{l.dev, "pn7-k" + n} { // it routes between these two
		os.WriteFile("/proc/sys/net/ipv4/conf/"+dev+"/forwarding", []byte("1"), 0)
	}
	os.WriteFile("/proc/sys/net/ipv6/conf/all/forwarding", []byte("1"), 0) // there is no less
	s.inside(func() error {
		return run(fmt.Sprintf(`link set lo up
link set pn7-l%[1]s mtu 1300 up
address replace %[2]v/24 dev pn7-l%[1]s
address replace %[3]v/64 dev pn7-l%[1]s nodad
route replace default via %[4]v advmss 1460
route replace ::/0 via %[5]v advmss 1440
`, n, s.four, s.six, four(1), six(1)), "ip", "-batch", "-")
	})
	return s
}

// dial connects from in there.
func (s *narrow) dial(addr string) *client {
	s.t.Helper()
	var conn net.Conn
	at := time.Now()
	s.inside(func() (err error) {
		conn, err = net.DialTimeout("tcp", addr, patience)
		return err
	})
	s.t.Cleanup(func() { conn.Close() })
	return &client{conn.(*net.TCPConn), s.t, at, nil, netip.AddrPort{}}
}

// A router between clients and the proxy that can't pass a server's packets on
// says so to the proxy, and the server is told.
func TestForwardPathMTU(t *testing.T) {
	forwardOnly(t)
	for _, at := range families {
		for _, snat := range []string{"", ",snat=none"} {
			t.Run(at+snat, func(t *testing.T) {
				t.Parallel()
				l := newLink(t)
				a := newFar(t, l).listen("A", at != families[0], echo)
				p := setup{virtual: "listen=" + at + ":0" + snat, members: []string{a.limit(2)}, link: l}.start(t)
				s := newNarrow(t, l)
				for i := range 3 {
					s.dial(p.addr).echoed(byte(i), 1<<20)
				}
				n := p.metric(`penstock_tap_icmp_translated_total{device="` + l.dev + `"}`)
				t.Logf("%v ICMP errors are passed on", n)
				if n < 1 {
					t.Error("no server was told")
				}
			})
		}
	}
}
