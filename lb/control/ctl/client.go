package ctl

import (
	"context"
	"encoding/json"
	"net/http"

	"penstock/lb/control/config"
)

// What other views in a terminal share with ctl.
type (
	Virtual    = virtual
	Pool       = pool
	Member     = member
	Waiter     = waiter
	WaiterPage = waiterPage
	Tap        = tapFront

	Connections = connections

	// Misuse is a mistake in the command line.
	Misuse = misuse
)

// Client asks a running proxy for numbers, again and again.
type Client struct{ s *session }

// Connect finds out where the proxy is: at admin, or if that is "" where it
// listens by default. Nothing is asked yet.
func Connect(admin, tokenFile string, env config.Env) (*Client, error) {
	s, err := connect(options{admin: admin, tokenFile: tokenFile}, env)
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Address is where the proxy is, as people know it.
func (c *Client) Address() string { return c.s.address }

// Get puts what is at a path into v.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	r, err := c.s.request(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	body, err := c.s.send(r.WithContext(ctx))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return c.s.nonsense(err)
	}
	return nil
}

// Close ends what is connected.
func (c *Client) Close() { c.s.close() }

// Count, Size and Span show numbers as ctl does.
func Count(n int64) string   { return count(n) }
func Size(n int64) string    { return size(n) }
func Span(ms float64) string { return span(ms) }

// Figures shows a number from 0 to 1000 with three of them.
func Figures(f float64) string { return figures(f) }

// State is a word for whether the device is there and up.
func (t *tapFront) State() string { return t.state() }

// Dropped is how many SYNs were.
func (t *tapFront) Dropped() int64 { return t.dropped() }

// Refused is how many were refused, whatever for.
func (o *outcomes) Refused() int64 { return o.refused() }

// Misused is an error that says what is wrong in the command line.
func Misused(format string, args ...any) error { return misused(format, args...) }
