package main

import (
	"log/slog"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
)

// view is what the admin interface shows.
type view struct {
	*proxy.Proxy
	*dispatch.Dispatcher
	c *config.Config
}

func (v view) Config() *config.Config { return v.c }
func (v view) Now() dispatch.Tick     { return dispatch.Tick(kernel.Clock()) }

// startAdmin opens what -admin names and answers until stop is called.
func startAdmin(c *config.Config, p *proxy.Proxy, log *slog.Logger) (stop func(), err error) {
	if c.Admin == "off" {
		return func() {}, nil
	}
	s, err := admin.Listen(c.Admin, log)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(view{p, p.Dispatcher(), c}); err != nil {
			log.Error("admin interface ends", "error", err)
		}
	}()
	log.Info("admin", "address", s.Addr().String())
	return func() { s.Close(); <-done }, nil
}
