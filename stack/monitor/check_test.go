package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/proxyheader"
)

// checked makes one check and returns the reason of its failure.
func checked(target Target, limit time.Duration) (why string, took time.Duration) {
	return checkedBy(target, limit, usual)
}

func checkedBy(target Target, limit time.Duration, rest bounds) (why string, took time.Duration) {
	start, verdicts := time.Now(), 0
	check(context.Background(), &target, limit, rest, func(err error) {
		took = time.Since(start)
		verdicts++
		if err != nil {
			why = reason(err, limit)
		}
	})
	if verdicts != 1 {
		why = fmt.Sprintf("%d verdicts", verdicts)
	}
	return why, took
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

func flood(what string) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		b := bytes.Repeat([]byte(what), 64<<10/len(what))
		for range 1 << 20 { // far more than anybody reads
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}
}

func reset(c *net.TCPConn) {
	c.Read(make([]byte, 4096))
	c.SetLinger(0)
}

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		server func(*net.TCPConn)
		recv   string
		want   string // the reason; empty: good. What follows a ~ need only be in it
	}{
		{"200", answer(ok), "", ""},
		{"302", answer("HTTP/1.0 302 Found\r\nLocation: /login\r\n\r\n"), "", ""},
		{"399", answer("HTTP/1.1 399 x\r\n\r\n"), "", ""},
		{"400", answer("HTTP/1.1 400 x\r\n\r\n"), "", "status 400"},
		{"503", answer("HTTP/1.1 503 Unavailable\r\n\r\n"), "", "status 503"},
		{"101", answer("HTTP/1.1 101 Switching Protocols\r\n\r\n"), "", "status 101"},
		{"103 and 200", answer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok), "", ""},
		{"103 and 500", answer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 500 x\r\n\r\n"), "", "status 500"},
		{"in pieces", answer("HTT", "P/1.1 2", "00 OK\r", "\n\r\n"), "", ""},
		{"broken chunk", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "", ""},
		{"half a status line", answer("HTTP/1.1 20"), "", "~malformed HTTP status"},
		{"nothing", answer(), "", "the answer ended within its header"},
		{"half a header", answer("HTTP/1.1 200 OK\r\nServer: x"), "", "the answer ended within its header"},
		{"not HTTP", answer("220 mail ESMTP\r\n"), "", "~malformed HTTP"},
		{"a long line that is not HTTP", answer(strings.Repeat("\xff", 1000) + "\r\n"), "", "~malformed HTTP"},
		{"reset", reset, "", "~connection reset by peer"},
		{"never", hang, "", "answer: nothing within 2s"},
		{"flood of zeros", flood("\x00"), "", "no status and header in the first 65536 bytes"},
		{"flood of header", func(c *net.TCPConn) {
			c.Write([]byte("HTTP/1.1 200 OK\r\n"))
			flood("A: b\r\n")(c)
		}, "", "no status and header in the first 65536 bytes"},
		{"flood of 1xx", flood("HTTP/1.1 100 Continue\r\n\r\n"), "", "no status and header in the first 65536 bytes"},
		{"flood of body", func(c *net.TCPConn) {
			c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			flood("body")(c)
		}, "", ""},

		{"text", answer(ok), "hi", ""},
		{"text in pieces", answer("HTTP/1.1 500 x\r\n\r\nal", "l i", "s well"), "all is well", ""},
		{"text of another protocol", answer("+PONG\r\n"), "+PONG", ""},
		{"no text", answer(ok), "ho", `"ho" is not in the answer of 40 bytes`},
		{"no text, empty", answer(), "ho", `"ho" is not in the answer of 0 bytes`},
		{"text in a broken chunk", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi"), "hi", ""},
		{"text at the end of 64 KiB", answer(strings.Repeat("x", mostAnswer-2) + "hi"), "hi", ""},
		{"text behind 64 KiB", answer(strings.Repeat("x", mostAnswer-1) + "hi"), "hi", `"hi" is not in the answer of 65536 bytes`},
		{"text in no flood", flood("x"), "hi", `"hi" is not in the answer of 65536 bytes`},
		{"text never", hang, "hi", "answer, after 0 bytes: nothing within 2s"},
		{"text, reset", reset, "hi", "~connection reset by peer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := patience
			if strings.Contains(c.want, " within 2s") {
				limit = 2 * time.Second // on a slow machine enough to connect in
			}
			why, took := checked(Target{Address: serve(t, c.server), Kind: HTTP, Recv: c.recv}, limit)
			if part, some := strings.CutPrefix(c.want, "~"); why != c.want && !(some && strings.Contains(why, part)) {
				t.Errorf("after %v: %q, want %q", took, why, c.want)
			}
			if len(why) > mostReason+3 {
				t.Errorf("a reason of %d bytes", len(why))
			}
		})
	}
}

func TestTCPCheck(t *testing.T) {
	for name, server := range map[string]func(*net.TCPConn){"hangs": hang, "resets": reset, "closes": func(*net.TCPConn) {}, "floods": flood("x")} {
		if why, _ := checked(Target{Address: serve(t, server)}, patience); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
	if why, _ := checked(Target{Address: nobody(t)}, patience); why != "connect: connection refused" {
		t.Errorf("nobody: %q", why)
	}
}

// A connect that nobody answers: the listener's backlog is full.
func TestConnectTimeout(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	raw, err := ln.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) })
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until(t, "the backlog is full", func() bool {
		var queued uint32
		raw.Control(func(fd uintptr) {
			if i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				queued = i.Unacked // of a listener: who waits to be accepted
			}
		})
		return queued == 1
	})
	target := Target{Address: ln.Addr().(*net.TCPAddr).AddrPort()}
	why, took := checked(target, 200*time.Millisecond)
	if why != "connect: nothing within 200ms" || took < 200*time.Millisecond {
		t.Errorf("after %v: %q", took, why)
	}
}

// What the server reads, all of it: C65, and the request.
func TestOpening(t *testing.T) {
	const v1, v2 = "PROXY UNKNOWN\r\n", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	got := make(chan string, 1)
	to := serve(t, func(c *net.TCPConn) {
		b := make([]byte, 4096)
		n, err := io.ReadAtLeast(c, b, 1)
		if err == io.EOF {
			n = 0
		}
		got <- string(b[:n])
		c.Write([]byte(ok))
	})
	get := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + to.String() + "\r\nUser-Agent: penstock\r\nConnection: close\r\n\r\n"
	}
	for _, c := range []struct {
		Target
		want string
	}{
		{Target{Kind: TCP}, ""},
		{Target{Kind: TCP, Proxy: proxyheader.V1}, v1},
		{Target{Kind: TCP, Proxy: proxyheader.V2}, v2},
		{Target{Kind: HTTP}, get("/")},
		{Target{Kind: HTTP, Send: "/health?deep=1"}, get("/health?deep=1")},
		{Target{Kind: HTTP, Send: "/", Proxy: proxyheader.V1}, v1 + get("/")},
		{Target{Kind: HTTP, Send: "/", Proxy: proxyheader.V2}, v2 + get("/")},
		{Target{Kind: HTTP, Send: "PING\r\n", Proxy: proxyheader.V2}, v2 + "PING\r\n"},
		{Target{Kind: TCP, Send: "/ignored"}, ""},
	} {
		c.Address = to
		if why, _ := checked(c.Target, patience); why != "" {
			t.Errorf("%+v: %q", c.Target, why)
		}
		if s := <-got; s != c.want {
			t.Errorf("%+v: the server reads %q, want %q", c.Target, s, c.want)
		}
	}
}

func TestHostOfIPv6(t *testing.T) {
	a := Target{Kind: HTTP, Address: netip.MustParseAddrPort("[2001:db8::1]:8080")}
	if s := string(a.opening()); !strings.Contains(s, "\r\nHost: [2001:db8::1]:8080\r\n") {
		t.Errorf("%q", s)
	}
}

// A check is no error to the server: all that it sends is taken, and it reads
// an end, not a reset; also if it speaks first, as mail servers do, or has
// more to say than the check wants to know.
func TestNormalClose(t *testing.T) {
	// A machine that stands still, and its server with it, is no quiet server; only
	// who keeps the connection open is left alone after a while.
	patient := bounds{bytes: usual.bytes, long: patience, quiet: patience}
	page := "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + strings.Repeat("x", 300<<10)
	for _, c := range []struct {
		name string
		Target
		says string
		ends bool // the server closes first
	}{
		{"silent", Target{Kind: TCP}, "", false},
		{"greeting", Target{Kind: TCP}, "220 mail ESMTP\r\n", false},
		{"page", Target{Kind: HTTP}, page, true},
		{"kept alive", Target{Kind: HTTP}, ok, false},
		{"text early in a page", Target{Kind: HTTP, Recv: "200"}, page, true},
		{"bad status and a page", Target{Kind: HTTP}, strings.Replace(page, "200", "500", 1), true},
	} {
		end := make(chan error, 1)
		c.Address = serve(t, func(s *net.TCPConn) {
			if c.Kind == HTTP {
				s.Read(make([]byte, 4096))
			}
			if _, err := io.WriteString(s, c.says); err != nil {
				end <- err
				return
			}
			if c.ends {
				s.CloseWrite()
			}
			_, err := io.Copy(io.Discard, s)
			end <- err
		})
		rest := patient
		if c.Kind == HTTP && !c.ends {
			rest = usual
		}
		checkedBy(c.Target, patience, rest)
		if err := <-end; err != nil {
			t.Errorf("%s: the server sees %v", c.name, err)
		}
	}
}

// The verdict does not wait for the goodbye, and that is bounded.
func TestGoodbyeIsBounded(t *testing.T) {
	to := serve(t, func(c *net.TCPConn) {
		c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		for { // a byte at a time, for ever
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	// Only the length ends it: the server may be slow.
	rest := bounds{bytes: usual.bytes, long: usual.long, quiet: patience}
	start := time.Now()
	why, took := checkedBy(Target{Address: to, Kind: HTTP}, patience, rest)
	if all := time.Since(start); why != "" || took > all-rest.long || all > patience/2 {
		t.Errorf("%q after %v, closed after %v", why, took, all)
	}
}

func TestCancelEndsACheck(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	reached := make(chan struct{})
	target := Target{Kind: HTTP, Address: serve(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		close(reached)
		hang(c)
	})}
	go func() { <-reached; cancel() }()
	start := time.Now()
	check(ctx, &target, time.Hour, usual, func(err error) {
		if err == nil {
			t.Error("a check that was cancelled is good")
		}
	})
	if d := time.Since(start); d > patience {
		t.Errorf("it took %v", d)
	}
}

func TestReasons(t *testing.T) {
	op := &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 1}, Err: errors.New("weird")}
	if s := reason(fmt.Errorf("answer: %w", op), 0); s != "answer: weird" {
		t.Errorf("%q", s)
	}
	if s := reason(errors.New(strings.Repeat("ü", 200)), 0); len(s) > mostReason+3 || strings.ContainsRune(s, '\uFFFD') {
		t.Errorf("%q", s)
	}
}
