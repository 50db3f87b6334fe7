package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"penstock/bench/load"
)

// A server and a client talk, and print what versus reads.
func TestServerAndClient(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int)
	go func() {
		code <- run(ctx, []string{"server", "-listen", "127.0.0.1:0", "-then", "close"}, w, t.Output())
	}()
	lines := json.NewDecoder(r)
	var up listening
	if err := lines.Decode(&up); err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	args := []string{"client", "-target", up.Listening.String(), "-work", "short", "-flows", "3", "-total", "20"}
	if code := run(ctx, args, &out, t.Output()); code != 0 {
		t.Fatal("client: exit", code)
	}
	var res load.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil || res.Outcomes[load.Served] != 20 {
		t.Error(err, out.String())
	}

	stop()
	var counts load.Counts
	if err := lines.Decode(&counts); err != nil || counts.Requests != 20 {
		t.Error(err, counts)
	}
	if c := <-code; c != 0 {
		t.Error("server: exit", c)
	}
}

func TestMistakes(t *testing.T) {
	for args, want := range map[string]int{
		"":                     2,
		"surver":               2,
		"client -nonsense":     2,
		"client extra":         2,
		"client -h":            0,
		"client -work nothing": 1,
		"client -watch x":      1,
		"server -then explode": 1,
	} {
		var errs bytes.Buffer
		if got := run(t.Context(), strings.Fields(args), io.Discard, &errs); got != want || errs.Len() == 0 {
			t.Errorf("penbench %s: exit %d, want %d: %s", args, got, want, &errs)
		}
	}
}
