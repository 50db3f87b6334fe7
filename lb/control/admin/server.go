package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Bounds for those who ask.
const (
	requestTime = 10 * time.Second
	answerTime  = 30 * time.Second
	idleTime    = time.Minute
	headerSize  = 16 << 10
	closeTime   = time.Second // for answers that are under way at Close
)

// Config is what a server needs to know.
type Config struct {
	Address   string // "unix:PATH" or "IP:PORT"
	TokenFile string // the password of those who come over TCP; "" none
	Log       *slog.Logger
}

// headerTime is how long somebody may take to say what they want. Tests
// shorten it.
var headerTime = 5 * time.Second

// Server is the admin interface of one process.
type Server struct {
	listener net.Listener
	token    *token // nil: none
	http     *http.Server
}

// Open listens. Who connects waits for Serve.
func Open(c Config) (*Server, error) {
	s := &Server{}
	var err error
	if c.TokenFile != "" {
		if s.token, err = readToken(c.TokenFile); err != nil {
			return nil, err
		}
	}
	ln, err := listen(c.Address, s.token != nil)
	if err != nil {
		return nil, err
	}
	s.listener = newCrowd(ln, MostClients)
	s.http = &http.Server{
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerSize,
		ConnContext:       remember,
		ErrorLog:          slog.NewLogLogger(c.Log.With("from", "admin").Handler(), slog.LevelWarn),
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Close, which makes it return nil. It may be called
// once.
func (s *Server) Serve(v View, c Control) error {
	tcp := s.listener.Addr().Network() == "tcp"
	s.http.Handler = guard(Handler(v, c), tcp, s.token)
	err := s.http.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ReloadToken reads the token file again, if there is one. After an error the
// old token goes on. Any goroutine may call it.
func (s *Server) ReloadToken() error {
	if s.token == nil {
		return nil
	}
	return s.token.reload()
}

// Close stops listening, removes the Unix socket, and ends what is under way
// after a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	s.listener.Close() // or it stays open if Serve was not called
	return err
}
