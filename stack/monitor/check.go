package monitor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const mostAnswer = 64 << 10 // bytes that a verdict is made from

// bounds are those of a goodbye: see doc.go.
type bounds struct {
	bytes       int
	long, quiet time.Duration
}

var usual = bounds{bytes: 1 << 20, long: 500 * time.Millisecond, quiet: 100 * time.Millisecond}

// past is a deadline that makes every call on a connection return.
var past = time.Unix(1, 0)

// check makes one check. It tells the verdict, nil if all is well, as soon as
// it stands, and returns when the connection is closed.
func check(ctx context.Context, t *Target, limit time.Duration, rest bounds, tell func(error)) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", t.Address.String())
	if err != nil {
		tell(fmt.Errorf("connect: %w", err))
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(past) })
	tell(talk(conn, t))
	if !stop() {
		return // out of time, or nobody wants to know any more
	}
	if t.Kind == TCP {
		conn.(*net.TCPConn).CloseWrite()
	}
	rest.goodbye(conn)
}

// talk says what is to be said over a new connection, and judges the answer.
func talk(conn net.Conn, t *Target) error {
	if b := t.opening(); len(b) > 0 {
		if _, err := conn.Write(b); err != nil {
			return fmt.Errorf("send: %w", err)
		}
	}
	if t.Kind == TCP {
		return nil
	}
	answer := &io.LimitedReader{R: conn, N: mostAnswer}
	if t.Recv != "" {
		return find(answer, []byte(t.Recv))
	}
	return status(answer)
}

// status judges an answer by its status. Informational ones come before it.
func status(answer *io.LimitedReader) error {
	r := bufio.NewReader(answer)
	for {
		resp, err := http.ReadResponse(r, nil)
		switch {
		case err != nil && answer.N == 0:
			return fmt.Errorf("no status and header in the first %d bytes", mostAnswer)
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			return errors.New("the answer ended within its header")
		case err != nil:
			return fmt.Errorf("answer: %w", err)
		case resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue
		case resp.StatusCode < 200 || resp.StatusCode >= 400:
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	}
}

// find reads until the text was there.
func find(answer io.Reader, text []byte) error {
	b := make([]byte, 0, 4096)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := answer.Read(b[len(b):cap(b)])
		from := max(0, len(b)-len(text)+1) // the text may have begun in what was there
		b = b[:len(b)+n]
		switch {
		case bytes.Contains(b[from:], text):
			return nil
		case err == io.EOF:
			return fmt.Errorf("%q is not in the answer of %d bytes", text, len(b))
		case err != nil:
			return fmt.Errorf("answer, after %d bytes: %w", len(b), err)
		}
	}
}

// goodbye reads what still comes, so that the close is not a reset.
func (r bounds) goodbye(conn net.Conn) {
	b := make([]byte, 16<<10)
	end := time.Now().Add(r.long)
	for left := r.bytes; left > 0; {
		at := time.Now().Add(r.quiet)
		if at.After(end) {
			at = end
		}
		conn.SetReadDeadline(at)
		n, err := conn.Read(b)
		if err != nil {
			return
		}
		left -= n
	}
}
