package main

import (
	"log/slog"

	"penstock/lb/control/config"
	"penstock/stack/proxy"
)

func startAdmin(*config.Config, *proxy.Proxy, *slog.Logger) (func(), error) { return func() {}, nil }
