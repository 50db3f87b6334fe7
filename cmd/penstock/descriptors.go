package main

import (
	"fmt"
	"log/slog"
	"slices"

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
	room := limit - ownDescriptors - min(mostChecks, limit/32) - min(admin.MostClients, limit/32) - loops*(loopDescriptors+listeners(p)+2*p.MaxPipes)
	if room < kernel.LeastRoom {
		return fmt.Errorf("RLIMIT_NOFILE is %d: too few descriptors for %d loops and %d virtual servers",
			limit, loops, len(p.Virtuals))
	}
	p.MaxDescriptors, p.MaxClients = room, c.MaxConnections
	proxied := !allForwarded(c)
	args := []any{"limit", limit}
	if proxied {
		args = append(args, "parked_clients_at_most", room-kernel.Reserve(room), "proxied_connections_at_most", room/2)
	}
	log.Info("descriptors", args...)
	if p.Tap != nil {
		log.Info("tap", tapRoom(p, c)...)
	}
	if proxied && c.MaxConnections > room/2 {
		log.Warn("-max-connections is more than descriptors allow",
			"max_connections", c.MaxConnections, "limit", limit, "proxied_connections_at_most", room/2)
	}
	return nil
}

// allForwarded says whether no connection needs a descriptor.
func allForwarded(c *config.Config) bool {
	return !slices.ContainsFunc(c.Virtuals, func(v config.Virtual) bool { return v.Transport != config.Forwarded })
}

// tapRoom is what there is room for on the TAP devices: records take memory,
// and no descriptors.
func tapRoom(p *proxy.Config, c *config.Config) []any {
	loops := p.Dispatch.Loops
	args := []any{"device", p.Tap.Device, "parked_handshakes_at_most", p.Tap.Handshakes * loops}
	if p.Tap.Servers != nil {
		args = append(args, "servers_device", p.Tap.Servers.Device)
	}
	if !c.Forwards() {
		return args
	}
	flows := p.Tap.Flows * loops
	if c.MaxConnections > 0 {
		flows = min(flows, c.MaxConnections)
	}
	return append(args, "forwarded_connections_at_most", flows)
}

// listeners is how many sockets a loop listens on. A virtual server on the TAP
// device needs none.
func listeners(p *proxy.Config) (n int) {
	for i := range p.Virtuals {
		if !p.Virtuals[i].Tap {
			n++
		}
	}
	return n
}
