package main

import (
	"context"
	"log/slog"
	"os"
	"syscall"
	"time"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

// serve runs the proxy until it is told to stop.
func serve(c *config.Config, e env) int {
	log := newLogger(c, e)
	for _, w := range c.Warnings {
		log.Warn(w)
	}
	if err := serveUntilSignal(c, e, log); err != nil {
		log.Error("penstock ends", "error", err)
		return exitError
	}
	return exitOK
}

func newLogger(c *config.Config, e env) *slog.Logger {
	opts := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(e.stderr, opts))
	}
	return slog.New(slog.NewTextHandler(e.stderr, opts))
}

func serveUntilSignal(c *config.Config, e env, log *slog.Logger) error {
	cfg := topology(c, log)
	if err := shareDescriptors(&cfg, c, log); err != nil {
		return err
	}
	access, err := openAccessLog(c, cfg.Dispatch.Loops, e, log)
	if err != nil {
		return err
	}
	if access != nil {
		defer access.Close() // the loops have ended by then
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
	stopAdmin, err := startAdmin(c, p, log)
	if err != nil {
		p.Close()
		return err
	}
	defer stopAdmin()
	announce(c, p, log)
	return runUntilSignal(c, e, p, access, log)
}

func announce(c *config.Config, p *proxy.Proxy, log *slog.Logger) {
	for i, v := range c.Virtuals {
		log.Info("listening", "virtual", v.Name, "address", p.Listening(i).String(), "pool", c.Pools[v.Pool].Name)
	}
}

// runUntilSignal serves; the first SIGTERM or SIGINT drains, a second one ends
// now.
func runUntilSignal(c *config.Config, e env, p *proxy.Proxy, access *accesslog.Log, log *slog.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-e.signals:
			if s == syscall.SIGHUP {
				reopen(access, log)
				continue
			}
			log.Info("draining", "signal", s.String(), "drain_time", c.DrainTime)
			drain(c.DrainTime, e.signals, p, log)
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
