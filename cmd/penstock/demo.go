package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"penstock/lb/control/config"
)

// The demo is two servers that take a second for a request, behind small
// limits, and clients that come in bursts of more than these let in at once.
// The access log shows what became of each.
const (
	demoService = time.Second
	demoBurst   = 9 // clients at once; the members take 2 and 3
	demoPause   = 4 * time.Second
)

// demo is what runs beside the proxy with -demo. Its goroutines end when its
// sockets are closed.
type demo struct {
	log     *slog.Logger
	quit    chan struct{}
	running sync.WaitGroup
	open    sync.Map // io.Closer
}

// startDemo starts the servers, and the clients of the first virtual server.
func startDemo(c *config.Config, log *slog.Logger) (stop func(), err error) {
	d := &demo{log: log, quit: make(chan struct{})}
	for _, m := range c.Pools[c.Virtuals[0].Pool].Members {
		if err := d.serve(m.Address.String(), m.ConnectionLimit); err != nil {
			d.stop()
			return nil, fmt.Errorf("demo server: %w", err)
		}
	}
	target := demoTarget(c.Virtuals[0])
	d.running.Go(func() { d.clients(target) })
	log.Info("demo", "clients_every", demoPause, "burst", demoBurst,
		"try", "curl http://"+target+"/")
	return d.stop, nil
}

func demoTarget(v config.Virtual) string {
	if v.Dual {
		return fmt.Sprintf("127.0.0.1:%d", v.Listen.Port())
	}
	return v.Listen.String()
}

func (d *demo) stop() {
	close(d.quit)
	d.open.Range(func(c, _ any) bool {
		c.(io.Closer).Close()
		return true
	})
	d.running.Wait()
}

// track registers a socket to be closed at the end; if that has begun, it is
// closed at once.
func (d *demo) track(c io.Closer) (done func()) {
	d.open.Store(c, nil)
	select {
	case <-d.quit:
		c.Close()
	default:
	}
	return func() { d.open.Delete(c); c.Close() }
}

// serve answers HTTP requests, and says if it ever sees more connections than
// its limit.
func (d *demo) serve(addr string, limit int64) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	d.log.Info("demo server", "address", addr, "connection_limit", limit)
	done := d.track(ln)
	var inUse atomic.Int64
	d.running.Go(func() {
		defer done()
		for {
			conn, err := ln.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					d.log.Error("demo server", "error", err)
				}
				return
			}
			if n := inUse.Add(1); limit > 0 && n > limit {
				d.log.Error("demo server is over its limit", "address", addr, "connections", n, "limit", limit)
			}
			d.running.Go(func() { d.answer(conn, addr, &inUse) })
		}
	})
	return nil
}

func (d *demo) answer(conn net.Conn, addr string, inUse *atomic.Int64) {
	done := d.track(conn)
	defer func() { inUse.Add(-1); done() }()
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return
	}
	select {
	case <-time.After(demoService):
	case <-d.quit:
		return
	}
	body := fmt.Sprintf("served by %s, with %d connections at this moment\n", addr, inUse.Load())
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// clients sends bursts until the demo ends.
func (d *demo) clients(target string) {
	for {
		for range demoBurst {
			d.running.Go(func() { d.request(target) })
			if !d.sleep(20 * time.Millisecond) {
				return
			}
		}
		if !d.sleep(demoPause) {
			return
		}
	}
}

func (d *demo) sleep(t time.Duration) bool {
	select {
	case <-time.After(t):
		return true
	case <-d.quit:
		return false
	}
}

func (d *demo) request(target string) {
	conn, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return // the proxy is not up yet, or on its way down
	}
	defer d.track(conn)()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n")
	io.Copy(io.Discard, conn)
}
