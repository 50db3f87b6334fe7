package main

import (
	"context"
	"fmt"

	"penstock/bench/load"
)

// metric is one figure of a work. A goal of 0 is none.
type metric struct {
	name string
	more bool    // more is better
	goal float64 // for the ratio to HAProxy, or for the figure itself if absolute
	abs  bool
}

// work is something that both proxies do.
type work struct {
	name, about string
	server      load.Then
	client      load.Work
	flows       int
	limit       int // connections to the server at a time; 0 is none
	bulk        bool
	metrics     []metric
	measure     func(ctx context.Context, s *scene) (figures, error)
}

// figures are what one proxy did in one round, by metric.
type figures map[string]float64

// Sizes of what travels: small enough to cost nothing, in one segment.
const (
	request  = 64
	response = 256
)

// works lists what can be measured.
//
// Short connections are closed by the server first, as most are. The end that
// closes first keeps TIME_WAIT, for a minute, so here the accepting sockets do
// (the server's, and the proxy's towards the client): they hold no port that
// anybody needs to connect again, and a SYN for the same four numbers, which
// come again after 28,000 connections, is taken at once since its timestamp is
// newer. Were the client to close first, both connecting ends would keep theirs,
// and run out of ports or depend on tcp_tw_reuse. Closing by reset
// (SO_LINGER 0) would avoid TIME_WAIT, but is other work: penstock passes a
// reset on, HAProxy makes an end of it. Several client addresses keep the search
// for a port short.
func works(o options) []work {
	shortly, kept := load.Close, load.Stay
	return []work{
		{
			name: "short", about: "connect, request, response, close; 64 at a time",
			server: shortly, client: load.Short, flows: 64, measure: timed(o, perConnection),
			metrics: []metric{
				{name: "conn/s", more: true, goal: 1.1},
				{name: "CPU µs/conn", goal: 0.9},
				{name: "p99 µs"},
			},
		},
		{
			name: "keepalive", about: "requests on 64 kept connections",
			server: kept, client: load.Keep, flows: 64, measure: timed(o, perRequest),
			metrics: []metric{
				{name: "req/s", more: true, goal: 1.1},
				{name: "CPU µs/req"},
				{name: "p99 µs"},
			},
		},
		bulk(o, 1),
		bulk(o, 16),
		{
			name: "parked", about: fmt.Sprintf("%d clients wait, limit 1", o.parked),
			server: kept, client: load.Idle, flows: o.parked + 1, limit: 1, measure: holding(o, 0),
			metrics: []metric{
				{name: "B/client", goal: 256, abs: true},
				{name: "fds/client"},
			},
		},
		{
			name: "idle", about: fmt.Sprintf("%d pairs, one request each, then nothing", o.idle),
			server: kept, client: load.Idle, flows: o.idle, measure: holding(o, request),
			metrics: []metric{
				{name: "B/pair", goal: 512, abs: true},
				{name: "fds/pair", goal: 2, abs: true},
			},
		},
	}
}

func bulk(o options, flows int) work {
	return work{
		name: fmt.Sprintf("bulk-%d", flows), about: "server to client, without end",
		server: load.Stream, client: load.Bulk, flows: flows, bulk: true, measure: timed(o, perByte),
		metrics: []metric{
			{name: "Gb/s", more: true, goal: 1.2},
			{name: "CPU s/GB", goal: 0.6},
		},
	}
}

// perConnection, perRequest and perByte make figures of a client's result and
// the CPU seconds of the proxy.
func perConnection(r load.Result, cpu float64) figures {
	n := float64(r.Outcomes[load.Served])
	return figures{"conn/s": n / r.Seconds, "CPU µs/conn": cpu * 1e6 / n, "p99 µs": float64(r.Latency.P99)}
}

func perRequest(r load.Result, cpu float64) figures {
	n := float64(r.Outcomes[load.Served])
	return figures{"req/s": n / r.Seconds, "CPU µs/req": cpu * 1e6 / n, "p99 µs": float64(r.Latency.P99)}
}

func perByte(r load.Result, cpu float64) figures {
	n := float64(r.Bytes)
	return figures{"Gb/s": n * 8 / 1e9 / r.Seconds, "CPU s/GB": cpu * 1e9 / n}
}

// timed measures work that is done again and again for a time.
func timed(o options, figure func(load.Result, float64) figures) func(context.Context, *scene) (figures, error) {
	return func(ctx context.Context, s *scene) (figures, error) {
		res, err := s.load(ctx, o.seconds)
		if err != nil {
			return nil, err
		}
		if res.Outcomes[load.Served] == 0 {
			return nil, fmt.Errorf("nothing was served: %v %s", res.Outcomes, res.Cause)
		}
		f := figure(res, res.Watched[s.proxyPID()])
		if f[proxyCores] = res.Watched[s.proxyPID()] / res.Seconds; s.proxy == nil {
			delete(f, s.work.metrics[1].name) // there is no proxy's CPU
		}
		f[lostMetric] = float64(res.Outcomes.Lost())
		f[clientCores] = res.CPU / res.Seconds
		f[serverCores] = res.Watched[s.server.pid()] / res.Seconds
		return f, nil
	}
}

// holding measures what connections cost that do nothing.
func holding(o options, ask int) func(context.Context, *scene) (figures, error) {
	return func(ctx context.Context, s *scene) (figures, error) {
		return s.hold(ctx, ask)
	}
}
