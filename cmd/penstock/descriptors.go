package main

import (
	"fmt"
	"log/slog"

	"golang.org/x/sys/unix"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
)

const (
	// ownDescriptors is what the process has beside its connections: standard
	// streams, the log, the admin socket.
	ownDescriptors = 16
	// loopDescriptors is what a loop has beside its listeners.
	loopDescriptors = 4
	// mostChecks is what the monitors may have open at once.
	mostChecks = 64
	// mostPipes bounds a loop's pipes where descriptors are plenty.
	mostPipes = 64
)

// shareDescriptors divides what RLIMIT_NOFILE allows, and says what comes of
// it.
func shareDescriptors(p *proxy.Config, c *config.Config, log *slog.Logger) error {
	var rl unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &rl); err != nil {
		return fmt.Errorf("read RLIMIT_NOFILE: %w", err)
	}
	limit := int(min(rl.Cur, 1<<30))
	loops := p.Dispatch.Loops
	p.MaxPipes = min(mostPipes, limit/32/loops)
	room := limit - ownDescriptors - min(mostChecks, limit/32) - min(admin.MostClients, limit/32) - loops*(loopDescriptors+len(p.Virtuals)+2*p.MaxPipes)
	if room < kernel.LeastRoom {
		return fmt.Errorf("RLIMIT_NOFILE is %d: too few descriptors for %d loops and %d virtual servers",
			limit, loops, len(p.Virtuals))
	}
	p.MaxDescriptors, p.MaxClients = room, c.MaxConnections
	log.Info("descriptors", "limit", limit, "parked_clients_at_most", room-kernel.Reserve(room), "proxied_connections_at_most", room/2)
	if c.MaxConnections > room/2 {
		log.Warn("-max-connections is more than descriptors allow",
			"max_connections", c.MaxConnections, "limit", limit, "proxied_connections_at_most", room/2)
	}
	return nil
}
