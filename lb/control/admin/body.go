package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"penstock/lb/control/config"
)

// mostBody bounds a request's body. All keys of the largest object fit many
// times.
const mostBody = 64 << 10

// readBody reads a JSON object of plain values: what flags take as KEY=VALUE.
// No body is an object without keys.
func readBody(w http.ResponseWriter, r *http.Request) ([]config.Setting, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &refusal{code: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("body: at most %d bytes are read", mostBody)}
	case err != nil:
		return nil, badRequest("body: %v", err)
	case len(body) == 0:
		return nil, nil
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, &refusal{code: http.StatusUnsupportedMediaType, Text: "Content-Type: allowed is application/json"}
	}
	return parseBody(body)
}

// parseBody takes an object apart. It is stricter than encoding/json: a key
// given twice is more likely a slip than meant.
func parseBody(body []byte) ([]config.Setting, error) {
	p := bodyParser{dec: json.NewDecoder(bytes.NewReader(body)), seen: map[string]bool{}}
	if t, err := p.dec.Token(); err != nil || t != json.Delim('{') {
		return nil, badRequest(`body: not a JSON object, such as {"connection-limit": 100}`)
	}
	for p.dec.More() {
		if err := p.pair(); err != nil {
			return nil, badRequest("body: not JSON: %v", err)
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return nil, badRequest("body: not JSON: it ends too soon")
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, badRequest("body: something follows the JSON object")
	}
	if len(p.mistakes) > 0 {
		return nil, mistaken(p.mistakes)
	}
	return p.pairs, nil
}

// bodyParser goes through an object, and on after a mistake.
type bodyParser struct {
	dec      *json.Decoder
	seen     map[string]bool
	pairs    []config.Setting
	mistakes []Mistake
}

// pair reads a key and its value. The error is that this is no JSON.
func (p *bodyParser) pair() error {
	t, err := p.dec.Token()
	if err != nil {
		return err
	}
	key := t.(string) // a Decoder lets nothing else be a key
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return err
	}
	value, ok := plain(raw)
	switch {
	case p.seen[key]:
		p.mistake(key, raw, "key given twice; allowed is once")
	case !ok:
		p.mistake(key, raw, "allowed are a string, a number, true and false")
	default:
		p.pairs = append(p.pairs, config.Setting{Key: key, Value: value})
	}
	p.seen[key] = true
	return nil
}

func (p *bodyParser) mistake(key string, raw json.RawMessage, why string) {
	value, ok := plain(raw)
	if !ok {
		value = string(raw)
	}
	p.mistakes = append(p.mistakes, mistake(key, value, why))
}

// plain gives a JSON value as a flag would have it: true and false are on and
// off, and a number is its own text.
func plain(raw json.RawMessage) (value string, ok bool) {
	switch raw[0] {
	case '"':
		return value, json.Unmarshal(raw, &value) == nil
	case 't':
		return "on", true
	case 'f':
		return "off", true
	case 'n', '[', '{':
		return "", false
	}
	return string(raw), true
}
