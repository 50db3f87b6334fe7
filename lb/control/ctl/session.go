package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"penstock/lb/control/config"
)

// Bounds for a proxy that does not answer, or too much.
const (
	patience   = 30 * time.Second
	mostAnswer = 256 << 20
)

// session is a proxy's admin interface, and where to print what it says.
type session struct {
	out  io.Writer
	json bool

	address string // as people know it
	host    string // as HTTP does
	token   string
	http    *http.Client
}

// connect finds out where the proxy is. Nothing is asked yet.
func connect(o options, env config.Env) (*session, error) {
	s := &session{address: o.admin}
	if s.address == "" {
		s.address = env.Admin()
	}
	if s.address == "off" {
		return nil, fmt.Errorf("there is no default admin interface here (XDG_RUNTIME_DIR is not set); say -admin ADDR")
	}
	network, at := "tcp", s.address
	s.host = at
	if socket, ok := strings.CutPrefix(at, "unix:"); ok {
		network, at, s.host = "unix", socket, "penstock"
	} else if _, _, err := net.SplitHostPort(at); err != nil {
		return nil, misused("-admin %q: allowed is unix:PATH or IP:PORT", at)
	}
	if err := s.readToken(o.tokenFile, env); err != nil {
		return nil, err
	}
	var d net.Dialer
	s.http = &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, network, at) },
	}}
	return s, nil
}

func (s *session) readToken(file string, env config.Env) error {
	if file == "" {
		return nil
	}
	if env.ReadFile == nil {
		return fmt.Errorf("-token-file: files can't be read here")
	}
	b, err := env.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-token-file: %w", err)
	}
	s.token = strings.TrimSpace(string(b))
	return nil
}

func (s *session) close() { s.http.CloseIdleConnections() }

// ask makes one request and returns what the proxy said. In the json form it
// is printed too, be it a refusal.
func (s *session) ask(method, path string, keys map[string]string) ([]byte, error) {
	r, err := s.request(method, path, keys)
	if err != nil {
		return nil, err
	}
	return s.send(r)
}

// send sends a request and reads the answer to it.
func (s *session) send(r *http.Request) ([]byte, error) {
	w, err := s.http.Do(r)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, mostAnswer))
	if err != nil {
		return nil, s.unreachable(err)
	}
	if s.json {
		if _, err := s.out.Write(body); err != nil {
			return nil, err
		}
	}
	if w.StatusCode >= 300 {
		return nil, s.refused(w, body)
	}
	return body, nil
}

// has says whether there is something at a path.
func (s *session) has(path string) (bool, error) {
	r, err := s.request(http.MethodHead, path, nil)
	if err != nil {
		return false, err
	}
	w, err := s.http.Do(r)
	if err != nil {
		return false, s.unreachable(err)
	}
	w.Body.Close()
	return w.StatusCode == http.StatusOK, nil
}

func (s *session) request(method, path string, keys map[string]string) (*http.Request, error) {
	var body io.Reader
	if keys != nil {
		b, err := json.Marshal(keys)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequest(method, "http://"+s.host+path, body)
	if err != nil {
		return nil, misused("-admin %q: %v", s.address, err)
	}
	if keys != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return r, nil
}

// unreachable says where nobody answered.
func (s *session) unreachable(err error) error {
	var u *url.Error // says method and path once more
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("no answer at %s: %w; is the proxy running, and is that its -admin?", s.address, err)
}

// refused says what the proxy said.
func (s *session) refused(w *http.Response, body []byte) error {
	var said struct{ Error string }
	if err := json.Unmarshal(body, &said); err != nil || said.Error == "" {
		return fmt.Errorf("%s: %s", s.address, w.Status)
	}
	if w.StatusCode == http.StatusUnauthorized {
		said.Error += ", or another one: say -token-file FILE"
	}
	return fmt.Errorf("%s", said.Error)
}

func (s *session) nonsense(err error) error {
	return fmt.Errorf("%s does not answer as a proxy does: %w", s.address, err)
}

// say makes a request and prints what the answer to it means.
func (s *session) say(method, path string, keys map[string]string, show func([]byte) (string, error)) error {
	body, err := s.ask(method, path, keys)
	if err != nil || s.json {
		return err
	}
	text, err := show(body)
	if err != nil {
		return s.nonsense(err)
	}
	return s.print("%s", text)
}

func (s *session) print(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}
