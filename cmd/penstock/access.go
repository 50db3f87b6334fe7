package main

import (
	"log/slog"

	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

type accessLog struct{}

func openAccessLog(*config.Config, env, *slog.Logger) (*accessLog, error) { return &accessLog{}, nil }
func (*accessLog) close()                                                 {}
func (*accessLog) reopen(*slog.Logger)                                    {}
func (*accessLog) ended(int) func(int, *proxy.Ended)                      { return nil }

func startAdmin(*config.Config, *proxy.Proxy, *slog.Logger) (func(), error) { return func() {}, nil }
