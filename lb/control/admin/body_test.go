package admin

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"penstock/lb/control/config"
)

func post(body string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestBody(t *testing.T) {
	keys, err := readBody(httptest.NewRecorder(), post(` {"a": "x\u0041", "b": 1e3, "c": true, "d": false, "e": -0.5, "": ""} `))
	want := []config.Setting{{Key: "a", Value: "xA"}, {Key: "b", Value: "1e3"}, {Key: "c", Value: "on"}, {Key: "d", Value: "off"}, {Key: "e", Value: "-0.5"}, {}}
	if err != nil || !slices.Equal(keys, want) {
		t.Errorf("%q, %v", keys, err)
	}
}

// A body that does not end is not read to its end.
func TestBodyBounded(t *testing.T) {
	w := httptest.NewRecorder()
	_, err := readBody(w, post(`{"a": "`+strings.Repeat("x", mostBody)+`"}`))
	refuse(w, err)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "65536 bytes") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if _, err := readBody(w, post(`{"a": "`+strings.Repeat("x", mostBody-9)+`"}`)); err != nil {
		t.Error(err)
	}
}

// What is deep is refused, not followed.
func TestBodyDeep(t *testing.T) {
	if _, err := parseBody([]byte(`{"a": ` + strings.Repeat("[", 20000))); err == nil {
		t.Error("no error")
	}
}

// A mistake's text is taken apart for programs; whatever can't be is whole.
func TestParseMistake(t *testing.T) {
	for line, want := range map[string]Mistake{
		`pool app: a-b="x: \"y\"=z": allowed is q="r": s`: {"a-b", `x: "y"=z`, `allowed is q="r": s`},
		`member app/[::1]:80: limit="\x01"...: no`:        {"limit", "\x01...", "no"},
		`no virtual server; allowed is -listen ADDR`:      {"", "", `no virtual server; allowed is -listen ADDR`},
	} {
		if got := parseMistake(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// A wrong value of any size is told in few letters, and whole ones.
func TestMistakeCut(t *testing.T) {
	m := mistake(strings.Repeat("ä", 150), strings.Repeat("x", 1000), "no")
	if len(m.Key) > mostQuote+3 || len(m.Value) > mostQuote+3 || strings.ContainsRune(m.Key, '\uFFFD') {
		t.Errorf("%q", m)
	}
}
