package tally

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// golden compares what is said with a file of testdata.
func golden(t *testing.T, name string, what Said) {
	t.Helper()
	var out bytes.Buffer
	if err := Say(&out, true, what); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *rewrite {
		os.WriteFile(path, out.Bytes(), 0o644)
	}
	want, err := os.ReadFile(path)
	if err != nil || out.String() != string(want) {
		t.Errorf("%v; it is (-rewrite takes it):\n%s", err, &out)
	}
}

// evenly has n spans of 1, 2, 3 and so on steps.
func evenly(n int, step time.Duration) *Histogram {
	h := NewHistogram()
	for i := range n {
		h.Record(int64(step) * int64(i+1))
	}
	return h
}

func crowd() *Client {
	return &Client{
		Seconds: 5, Begun: 15620, Outcomes: Outcomes{Served: 14998, GaveUp: 250, Local: 1}, Received: 3_839_488, Late: 12,
		Cause: "cannot assign requested address", Latency: evenly(14998, 20*time.Microsecond), Connect: evenly(15000, 300*time.Nanosecond),
		Patience: evenly(250, 4*time.Millisecond), Lag: evenly(15249, 10*time.Nanosecond),
		Open: Series{From: 7e8, Every: SampleEvery, Values: []int64{0, 90, 120, 3}}, CPU: 2.5, Watched: map[int]float64{77: 3.75, 5: 0.5},
	}
}

func watchers() *Server {
	first := []Overshoot{{1_204_000_000, 101}, {1_310_500_000, 101}, {1_311_000_000, 102}, {2e9, 101}, {3e9, 101}, {4e9, 101}}
	return &Server{
		Members: []Member{
			{Address: "10.0.0.2:9001", Limit: 100, Accepted: 8123, MaxOpen: 102, Ghosts: 2, Resets: 31, Overshoots: 6, First: first},
			{Address: "10.0.0.2:9002", Accepted: 8001, MaxOpen: 1234, Open: 1, Starved: 1},
		},
		Requests: 16090, Sent: 4_119_040, Received: 1_029_760,
		Order: Order{Tokens: 16090, Overtaken: 12, Inversions: 30, Places: 1, Behind: 2_100_000, Far: 4, Dropped: 3},
		Wait:  evenly(16090, 30*time.Microsecond), Handover: evenly(20, 40*time.Microsecond),
	}
}

func TestText(t *testing.T) {
	golden(t, "client.txt", crowd())
	golden(t, "client-nothing.txt", &Client{Latency: NewHistogram()})
	golden(t, "server.txt", watchers())
	golden(t, "server-nothing.txt", &Server{Members: []Member{{Address: "10.0.0.2:9001", Limit: 1}}})
}

// What two say is added up as if one had seen it all, by way of JSON too.
func TestAdd(t *testing.T) {
	var sum Client
	for range 2 {
		text, err := json.Marshal(crowd())
		if err != nil {
			t.Fatal(err)
		}
		var c Client
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		sum.Add(&c)
	}
	golden(t, "client-twice.txt", &sum)
	if sum.Latency.Percentile(50) != crowd().Latency.Percentile(50) || sum.Latency.Count() != 2*14998 {
		t.Error("the merge is not exact")
	}
	var both Server
	both.Add(watchers())
	both.Add(watchers())
	golden(t, "server-twice.txt", &both)
}

// Series of one clock are added by it; those of two begin together.
func TestSince(t *testing.T) {
	here := Series{From: 1e9, Every: SampleEvery, Values: []int64{1, 2, 3}}
	for _, c := range []struct{ from, want int64 }{{1e9, 1e9}, {1_200_000_000, 1_200_000_000}, {1_300_000_000, 1e9}, {9e17, 1e9}, {0, 1e9}} {
		there := Series{From: c.from, Every: SampleEvery, Values: []int64{5, 5}}
		if got := there.Since(here); got.From != c.want {
			t.Errorf("from %d: since %d, want %d", c.from, got.From, c.want)
		}
	}
	if got := here.Since(Series{}); got.From != here.From {
		t.Error("nothing moved it to", got.From)
	}
}

func TestDigits(t *testing.T) {
	for us, want := range map[float64]string{1: "1 µs", 1.5: "1.5 µs", 999.4: "999 µs", 999.6: "1 ms", 1234: "1.23 ms", 99_990: "100 ms", 3.6e9: "3600 s"} {
		if got := micros(us); got != want {
			t.Errorf("%v µs: %s, want %s", us, got, want)
		}
	}
	for bytes, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 999_990: "1 MB", 1.5e9: "1.5 GB", 2e15: "2000 TB"} {
		if got := size(bytes); got != want {
			t.Errorf("%v bytes: %s, want %s", bytes, got, want)
		}
	}
	for of, want := range map[float64]string{1: "100.00 %", 0.99999: "> 99.99 %", 0.00001: "< 0.01 %", 0.5: "50.00 %"} {
		if got := share(of); got != want {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
}

// JSON is for programs: one line.
func TestSay(t *testing.T) {
	var out bytes.Buffer
	if err := Say(&out, false, crowd()); err != nil || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `"served":14998`) {
		t.Error(err, &out)
	}
}
