package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

// serve runs the proxy until it is told to stop. args are where c is from.
func serve(c *config.Config, args []string, e env) int {
	out := newOutlet(e.stderr, newLogger(c, e.stderr))
	defer out.Close()
	log := newLogger(c, out)
	for _, w := range c.Warnings {
		log.Warn(w)
	}
	if err := serveUntilSignal(c, args, e, log); err != nil {
		log.Error("penstock ends", "error", err)
		return exitError
	}
	return exitOK
}

func newLogger(c *config.Config, out io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}

func serveUntilSignal(c *config.Config, args []string, e env, log *slog.Logger) error {
	cfg := topology(c, log)
	if err := shareDescriptors(&cfg, c, log); err != nil {
		return err
	}
	access, err := openAccessLog(c, cfg.Dispatch.Loops, e, log)
	if err != nil {
		return err
	}
	if access != nil {
		defer func() { // the loops have ended by then
			if err := access.Close(); err != nil {
				log.Error("not all lines are written", "error", err)
			}
		}()
	}
	cfg.Ended = ended(access)
	if c.Demo {
		stop, err := startDemo(c, log)
		if err != nil {
			return err
		}
		defer stop()
	}
	p, err := proxy.New(cfg)
	if err != nil {
		return err
	}
	k := newControl(c, args, e, p, access, log)
	defer k.Close()
	server, stopAdmin, err := openAdmin(c, k, log)
	if err != nil {
		p.Close()
		return err
	}
	defer stopAdmin()
	for i := range c.Virtuals {
		announce(p, c, &c.Virtuals[i], log)
	}
	hup := func() { hangUp(k, access, server, log) }
	return runUntilSignal(k, e, hup, log)
}

// announce says where a virtual server of c listens.
func announce(p *proxy.Proxy, c *config.Config, v *config.Virtual, log *slog.Logger) {
	args := []any{"virtual", v.Name, "address", p.Listening(v.ID).String(), "pool", c.Pools[v.Pool].Name}
	if v.Front == config.FrontTap {
		args = append(args, "front", v.Front.String(), "device", c.Tap.Device)
	}
	if v.Transport == config.Forwarded {
		args = append(args, "mode", v.Transport.String())
	}
	log.Info("listening", args...)
}

// hangUp does what SIGHUP asks for: the access log goes on in a new file, and
// the flag file and the token are read again.
func hangUp(k *control, access *accesslog.Log, server *admin.Server, log *slog.Logger) {
	reopen(access, log)
	if server != nil {
		if err := server.ReloadToken(); err != nil {
			log.Error("admin token stays as it was", "error", err)
		}
	}
	if k.Config().FlagFile == "" {
		return
	}
	err := k.Reload()
	var mistakes config.Mistakes
	switch {
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			log.Error("nothing is changed", "file", k.Config().FlagFile, "mistake", m)
		}
	case err != nil:
		log.Error("nothing is changed", "file", k.Config().FlagFile, "error", err)
	default:
		log.Info("flag file applied", "file", k.Config().FlagFile)
	}
}

// runUntilSignal serves; the first SIGTERM or SIGINT drains, a second one ends
// now.
func runUntilSignal(k *control, e env, hup func(), log *slog.Logger) error {
	p := k.proxy
	runtime.GC() // what starting left behind, and what the first collection needs for ever, before anybody comes
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()
	hups := make(chan struct{}, 1)
	defer close(hups)
	go func() { // files may hang, which must not keep us from ending
		for range hups {
			hup()
		}
	}()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-e.signals:
			if s == syscall.SIGHUP {
				select {
				case hups <- struct{}{}:
				default: // one is on its way
				}
				continue
			}
			limit := k.Config().DrainTime
			log.Info("draining", "signal", s.String(), "drain_time", limit)
			drain(limit, e.signals, p, log)
			p.Stop()
			return <-ended
		}
	}
}

// drain serves who is there until all have ended, the time is over, or the
// second signal comes.
func drain(limit time.Duration, signals <-chan os.Signal, p *proxy.Proxy, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := p.Drain()
	for {
		select {
		case <-done:
			log.Info("drained")
			return
		case <-ctx.Done():
			log.Warn("drain time is over", "connections", p.Clients())
		case s := <-signals:
			if s == syscall.SIGHUP {
				continue
			}
			log.Warn("second signal, leaving now", "connections", p.Clients())
		}
		p.Cut()
		select {
		case <-done:
		case <-time.After(100 * time.Millisecond): // their last events may be on their way
		}
		return
	}
}
