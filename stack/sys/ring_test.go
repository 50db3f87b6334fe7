package sys

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func ring(t testing.TB, writes, bytes int) *Ring {
	t.Helper()
	r, e := OpenRing(writes, bytes)
	if e != 0 {
		t.Skip("io_uring: ", e)
	}
	t.Cleanup(r.Close)
	return r
}

// Writes come in order, again and again, as many as there is room for.
func TestRing(t *testing.T) {
	r := ring(t, 8, 100)
	in, out := pipe(t)
	for round := range 50 {
		var want []byte
		for i := 0; ; i++ {
			s := fmt.Sprintf("%d.%d ", round, i*i*i*round)
			b := r.Add(out, len(s))
			if b == nil {
				break
			}
			copy(b, s)
			want = append(want, s...)
		}
		if n := r.Len(); n != 8 && len(want) < 90 {
			t.Fatalf("there was room for %d writes only, of %d bytes", n, len(want))
		}
		if round%5 == 4 { // not to be done
			r.Clear()
			continue
		}
		if e := r.Submit(); e != 0 {
			t.Fatal(e)
		}
		var said []byte
		for i := range r.Len() {
			b, n, e := r.Write(i)
			if n != len(b) || e != 0 {
				t.Errorf("%q: %d, %v", b, n, e)
			}
			said = append(said, b...)
		}
		r.Clear()
		got := make([]byte, 200)
		n, err := unix.Read(in, got)
		if err != nil || !bytes.Equal(got[:n], want) || !bytes.Equal(said, want) {
			t.Fatalf("%q, %v; written was %q", got[:n], err, want)
		}
	}
}

// A write that fails leaves the others alone, whatever it fails of; none waits.
func TestRingErrors(t *testing.T) {
	r := ring(t, 8, 1<<20)
	in, out := pipe(t)
	unsure, err := os.OpenFile("/proc/self/comm", os.O_WRONLY, 0) // can't promise not to wait
	if err != nil {
		t.Fatal(err)
	}
	defer unsure.Close()
	const capacity = 1 << 16
	for _, w := range []struct{ fd, n int }{{out, 10}, {in, 10}, {-1, 10}, {int(unsure.Fd()), 10}, {out, capacity}, {out, 10}, {out, capacity}} {
		if r.Add(w.fd, w.n) == nil {
			t.Fatal("no room")
		}
	}
	if e := r.Submit(); e != 0 {
		t.Fatal(e)
	}
	var got []string
	for i := range r.Len() {
		_, n, e := r.Write(i)
		got = append(got, fmt.Sprint(n, int(e)))
	}
	want := fmt.Sprint([]string{
		"10 0", fmt.Sprint(0, int(unix.EBADF)), fmt.Sprint(0, int(unix.EBADF)), fmt.Sprint(0, int(unix.EOPNOTSUPP)),
		fmt.Sprint(capacity-4096, " 0"), fmt.Sprint(0, int(unix.EAGAIN)), fmt.Sprint(0, int(unix.EAGAIN)),
	})
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// With the ring gone nothing is done, and each write says so.
func TestRingFails(t *testing.T) {
	r := ring(t, 8, 100)
	_, out := pipe(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), r.fd); err != nil {
		t.Fatal(err)
	}
	r.Add(out, 10)
	r.Add(out, 10)
	if e := r.Submit(); e == 0 {
		t.Error("no error")
	}
	for i := range r.Len() {
		if _, n, e := r.Write(i); n != 0 || e != unix.EOPNOTSUPP {
			t.Errorf("%d, %v", n, e)
		}
	}
}

func pipe(t testing.TB) (in, out int) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(p[0]); unix.Close(p[1]) })
	return p[0], p[1]
}
