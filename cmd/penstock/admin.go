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
	*control
}

func (v view) Now() dispatch.Tick { return dispatch.Tick(kernel.Clock()) }

// openAdmin opens what -admin names and answers until stop is called; nil if
// it is off.
func openAdmin(c *config.Config, k *control, log *slog.Logger) (s *admin.Server, stop func(), err error) {
	if c.Admin == "off" {
		return nil, func() {}, nil
	}
	s, err = admin.Open(admin.Config{Address: c.Admin, TokenFile: c.AdminTokenFile, Log: log})
	if err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(view{k.proxy, k.disp, k}, k); err != nil {
			log.Error("admin interface ends", "error", err)
		}
	}()
	log.Info("admin", "address", s.Addr().String())
	return s, func() { s.Close(); <-done }, nil
}
