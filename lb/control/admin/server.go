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
	headerTime  = 5 * time.Second
	requestTime = 10 * time.Second
	answerTime  = 30 * time.Second
	idleTime    = time.Minute
	headerSize  = 16 << 10
	closeTime   = time.Second // for answers that are under way at Close
)

// Server is the admin interface of one process.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen opens "unix:PATH" or "IP:PORT". Who connects waits for Serve.
func Listen(address string, log *slog.Logger) (*Server, error) {
	ln, err := listen(address)
	if err != nil {
		return nil, err
	}
	return &Server{ln, &http.Server{
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerSize,
		ErrorLog:          slog.NewLogLogger(log.With("from", "admin").Handler(), slog.LevelWarn),
	}}, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Close, which makes it return nil. It may be called
// once.
func (s *Server) Serve(v View) error {
	tcp := s.listener.Addr().Network() == "tcp"
	s.http.Handler = guard(Handler(v), tcp)
	err := s.http.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
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
