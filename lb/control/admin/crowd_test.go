package admin

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// street is a listener for who comes along it.
type street struct {
	net.Listener
	come chan net.Conn
	once sync.Once
}

func (s *street) Accept() (net.Conn, error) {
	if c, ok := <-s.come; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s *street) Close() error {
	s.once.Do(func() { close(s.come) })
	return nil
}

// So many are let in. Strangers make room for the next one, then those who ask
// for nothing; for who is being answered the next one waits.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &street{come: make(chan net.Conn)}
		c := newCrowd(ln, 2)
		var in []*guest
		var end error
		go func() {
			for {
				conn, err := c.Accept()
				if err != nil {
					end = err
					return
				}
				in = append(in, conn.(*guest))
			}
		}()
		come := func() (gone func() bool) {
			near, far := net.Pipe()
			ln.come <- near
			synctest.Wait()
			return func() bool {
				far.SetReadDeadline(time.Now().Add(time.Second))
				_, err := far.Read(make([]byte, 1))
				return err == io.EOF
			}
		}
		expect := func(when string, n int, gone ...bool) {
			t.Helper()
			synctest.Wait()
			if len(in) != n || slices.Contains(gone, false) {
				t.Errorf("%s: %d were let in, want %d; gone are %v", when, len(in), n, gone)
			}
		}
		a, b := come(), come()
		in[0].ask(true)
		in[0].ask(false)
		d := come()
		expect("the stranger goes first", 3, !a(), b())
		in[2].ask(true)
		e := come()
		expect("then who asks for nothing", 4, a(), !d())
		in[3].ask(true)
		come()
		expect("nobody", 4, !d(), !e())
		in[3].ask(false)
		expect("one has its answer", 5, e())
		in[4].ask(true)
		come()
		leaves := in[2] // in grows as soon as it has left
		leaves.Close()
		leaves.Close()
		expect("one left", 6, d())
		in[5].ask(true)
		f := come()
		c.Close()
		c.Close()
		expect("closed", 6, f())
		if !errors.Is(end, net.ErrClosed) {
			t.Errorf("closed while it waits for room: %v", end)
		}
		in[4].Close()
		in[5].Close()
	})
}

// headersTake sets how long somebody may take, for one test.
func headersTake(t *testing.T, d time.Duration) {
	t.Helper()
	old := headerTime
	headerTime = d
	t.Cleanup(func() { headerTime = old })
}

// Who says nothing does not keep out who has the token, however many they are.
func TestStrangersMakeRoom(t *testing.T) {
	headersTake(t, time.Minute) // makes no room in the time of this test
	s, c := serveAs(t, Config{Address: "127.0.0.1:0", TokenFile: secret(t, oneWord), Log: quiet})
	var silent []net.Conn
	for range MostClients {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		silent = append(silent, conn)
	}
	r := request(t, "GET", "http://127.0.0.1/v1/pools")
	r.Header.Set("Authorization", "Bearer "+oneWord)
	begun := time.Now()
	if w, body := ask(t, c, r); w.StatusCode != 200 || time.Since(begun) > headerTime/2 {
		t.Errorf("%s after %v: %s", w.Status, time.Since(begun), body)
	}
	silent[0].SetReadDeadline(time.Now().Add(headerTime / 2))
	if _, err := silent[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the oldest: %v", err)
	}
}

// Who connects and says nothing, or only half, does not keep others out.
func TestSilent(t *testing.T) {
	headersTake(t, 200*time.Millisecond)
	s, c := serve(t, "127.0.0.1:0")
	var silent []net.Conn
	for range MostClients {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nX: ")
		silent = append(silent, conn)
	}
	for end := time.Now().Add(time.Minute); ; {
		// On a machine that stands still the time is too short for this one too.
		w, err := c.Do(request(t, "GET", "http://127.0.0.1/healthz"))
		if err == nil {
			w.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for _, conn := range silent {
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		// Its end may be a reset, if what it said came too late to be read.
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	}
}
