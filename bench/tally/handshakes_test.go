package tally

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What two generators counted is added up, over JSON, and told in words.
func TestHandshakes(t *testing.T) {
	one := Handshakes{Sent: 1_000_000, Counted: 5, Again: 7, Dropped: 3, Answered: 2, Refused: 6, Missed: 1, Filling: 4, Release: NewHistogram()}
	one.Release.Record(100_000)
	text, err := json.Marshal(Client{Seconds: 1, Handshakes: &one})
	if err != nil {
		t.Fatal(err)
	}
	var read, sum Client
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	sum.Add(&Client{}) // a client that is no generator
	if sum.Handshakes != nil {
		t.Error("handshakes of nobody")
	}
	sum.Add(&read)
	sum.Add(&Client{Handshakes: &Handshakes{Sent: 1, Filling: 1, First: NewHistogram()}})
	h := sum.Handshakes
	if h.Sent != 1_000_001 || h.Counted != 5 || h.Again != 7 || h.Dropped != 3 || h.Answered != 2 || h.Refused != 6 || h.Missed != 1 || h.Filling != 4 || h.Release.Count() != 1 {
		t.Errorf("%+v", h)
	}
	var out bytes.Buffer
	sum.Text(&out)
	for _, want := range []string{
		"handshakes: 1000001 SYNs in 4.00 s, 250000 a second; 7 again; 3 dropped by the device; 2 answered; 6 refused\n",
		"1 frame came too fast for the generator", "slot freed to SYN-ACK  -    -    -    -      100 µs",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
