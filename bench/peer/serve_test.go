package peer

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServes runs each proxy that is here: it must pass bytes on, go on doing
// so over a reload, and end when told to.
func TestServes(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) { serves(t, peerOrBuild(t, name)) })
	}
}

func serves(t *testing.T, p Peer) {
	s := Setup{Dir: t.TempDir(), Listen: apart(), Members: []Member{{echo(t), 4}}, Connections: 10, Loops: 2, Reloads: true}
	argv, err := p.Command(s)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil || argv == nil {
		if err != nil || p.Name() != "none" {
			t.Fatalf("%q %v", argv, err)
		}
		return
	}
	proxy := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	proxy.Stdout, proxy.Stderr = &said, &said
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- proxy.Wait() }()
	t.Cleanup(func() { proxy.Process.Kill() })
	hurry := time.AfterFunc(time.Minute, func() { proxy.Process.Kill() })
	defer hurry.Stop()

	answered(t, s.Listen, ended, &said)
	s.Members[0].Limit = 2
	if err := p.Reload(s, proxy.Process.Pid); err != nil {
		t.Fatal(err)
	}
	answered(t, s.Listen, ended, &said)
	terminate(proxy, ended)
	if !hurry.Stop() {
		t.Errorf("it had to be killed\n%s", &said)
	}
}

// terminate asks a proxy to end until it has: HAProxy's master misses a signal that
// comes while it starts itself anew for the reload.
func terminate(proxy *exec.Cmd, ended <-chan error) {
	for {
		proxy.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			return
		case <-time.After(2 * time.Second):
		}
	}
}

// answered returns once a word came back through the proxy.
func answered(t *testing.T, to netip.AddrPort, ended <-chan error, said *bytes.Buffer) {
	t.Helper()
	const word = "are you there?"
	for {
		got, err := ask(to, word)
		if got == word {
			return
		}
		select {
		case <-ended:
			t.Fatalf("the proxy ended (%v)\n%s", err, said)
		case <-time.After(10 * time.Millisecond): // it is not there yet
		}
	}
}

func ask(to netip.AddrPort, word string) (string, error) {
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, word); err != nil {
		return "", err
	}
	answer := make([]byte, len(word))
	_, err = io.ReadFull(c, answer)
	return string(answer), err
}

// echo is a server that sends back what it gets.
func echo(t *testing.T) netip.AddrPort {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// apart is where nobody listens or connects from: the address is of this process, no
// other test has it, and the port, below those that the kernel gives out, of the one
// who asked.
func apart() netip.AddrPort {
	pid := os.Getpid()
	ports++
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(64 + pid>>8%64), byte(pid), 92}), 9200+ports)
}

var ports uint16 // that were asked for

// TestVersions asks each program that is here what it is.
func TestVersions(t *testing.T) {
	for _, name := range Names() {
		program, _, _ := strings.Cut(name, "-")
		if name == "none" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if v := peerOrBuild(t, name).Version(); !strings.Contains(strings.ToLower(v), program) {
				t.Errorf("version %q", v)
			}
		})
	}
}
