package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"penstock/bench/tally"
)

// said writes what a process prints into a file, after other lines.
func said(t *testing.T, before string, all ...tally.Said) (path string) {
	t.Helper()
	out := bytes.NewBufferString(before)
	for _, what := range all {
		if err := tally.Say(out, false, what); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "said.json")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sawMillis is a client that has served one in each number of ms.
func sawMillis(from int64, ms ...int64) *tally.Client {
	c := &tally.Client{Seconds: 2, Begun: uint64(len(ms)), Latency: tally.NewHistogram(), CPU: 1, Watched: map[int]float64{7: 1}}
	for _, n := range ms {
		c.Outcomes[tally.Served]++
		c.Latency.Record(n * int64(time.Millisecond))
	}
	c.Open = tally.Series{From: from, Every: tally.SampleEvery, Values: []int64{1, 2}}
	return c
}

// Clients of several hosts, whose clocks have nothing to do with each other, are
// added up to what one would have seen; so are servers.
func TestSums(t *testing.T) {
	one := said(t, `{"counting":true}`+"\n", sawMillis(0, 1, 2, 3, 4, 5))
	two := said(t, `{"ready":true}{"standing":3}`+"\n", sawMillis(9e17, 6, 7, 8, 9), sawMillis(9e17, 10))
	server := &tally.Server{Members: []tally.Member{{Address: "10.0.0.2:1", Accepted: 5}}, Requests: 5}
	three := said(t, `{"listening":["10.0.0.2:1"]}{"open":1,"accepted":2}`+"\n", server)
	code, out, errs := penbench(t, "report", one, two, three, three)
	want := `3 clients together:
10 counted in 2.00 s; 10 connections begun in all
  served  10  100.00 %  5 a second
  at most 6 connections open at once, seen every 100 ms
  used 1.50 cores itself

                     p50   p90      p99  p99.9  max
  latency of served  5 ms  9.01 ms  -    -      10 ms

2 servers together:
member      limit  accepted  most at once  overshoots  ghosts  resets  still open
10.0.0.2:1  none   5         0             0           0       0       0
10.0.0.2:1  none   5         0             0           0       0       0

10 requests answered; sent 0 B, received 0 B
order: not known, no connection brought a token
`
	if code != 0 || out != want {
		t.Errorf("exit %d, %s:\n%s", code, errs, out)
	}
	if _, out, _ = penbench(t, "report", one); !strings.HasPrefix(out, "5 counted") || !strings.Contains(out, "process 7 used 0.50 cores") {
		t.Error(out)
	}
}

// Times that differ are told, since rates are of the longest.
func TestSumsOfOtherLengths(t *testing.T) {
	short := sawMillis(0, 1)
	short.Seconds = 1
	if _, out, _ := penbench(t, "report", said(t, "", short, sawMillis(0, 1))); !strings.Contains(out, "measured 1.00 s to 2.00 s") {
		t.Error(out)
	}
}

func TestSumsOfMistakes(t *testing.T) {
	odd := sawMillis(0, 1)
	odd.Open.Every = 7
	for _, c := range []struct{ file, want string }{
		{said(t, `{"counting":true}`), "no client's or server's figures in it"},
		{said(t, `{"counting":true} what?`), "value 2: invalid character"},
		{said(t, `{"counting":true} {"x":1}`), "value 2: not what penbench client or server prints"},
		{said(t, `{"outcomes":{"eaten":1},"seconds":1}`), `outcome "eaten" is not one of`},
		{said(t, "", odd), "a series every 7 ns"},
		{said(t, `{"x":1}`), "no scenario"},
		{said(t, "counting\n"), "not what penbench run writes"},
		{said(t, ""), "not what penbench run writes"},
	} {
		if code, _, errs := penbench(t, "report", c.file); code != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("exit %d, %s; want %s", code, errs, c.want)
		}
	}
	file := said(t, "", sawMillis(0, 1))
	if code, _, errs := penbench(t, "report", file, "-html", "x"); code != 2 || !strings.Contains(errs, "-html x: is for what `penbench run` has written; "+file) {
		t.Errorf("exit %d, %s", code, errs)
	}
}
