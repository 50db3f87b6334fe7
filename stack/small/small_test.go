package small

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
)

type inner struct {
	n    [3]uint16
	word string
}

func TestPointerIn(t *testing.T) {
	for _, c := range []struct {
		ty   reflect.Type
		path string
	}{
		{reflect.TypeFor[uint8](), ""},
		{reflect.TypeFor[[2]float64](), ""},
		{reflect.TypeFor[struct {
			_ [4]bool
			n atomic.Uint64
		}](), ""},
		{reflect.TypeFor[*int](), "*int"},
		{reflect.TypeFor[[0]func()](), "func()"},
		{reflect.TypeFor[struct{ in [2]inner }](), "in.word.string"},
		{reflect.TypeFor[struct{ b []byte }](), "b.[]uint8"},
	} {
		if path, found := pointerIn(c.ty); path != c.path || found != (c.path != "") {
			t.Errorf("%v: %q, %v; want %q", c.ty, path, found, c.path)
		}
	}
}

// table says how many bytes it has, or something else.
type table struct {
	b    []byte
	told int
}

func (t *table) Bytes() int { return t.told }

func TestEach(t *testing.T) {
	const n, size = 1 << 10, 1 << 20 // 1024 each
	for _, c := range []struct {
		most float64
		told int
		want int
	}{{1030, size, 0}, {1000, size, 1}, {1030, size * 9 / 10, 1}, {1030, size * 11 / 10, 1}} {
		var r recorder
		kept := Each(&r, n, c.most, func() *table { return &table{make([]byte, size), c.told} })
		if len(r.told) != c.want || len(kept.b) != size {
			t.Errorf("at most %v, %d told: says %q", c.most, c.told, r.told)
		}
	}
}

// recorder is a test that keeps what it was told.
type recorder struct {
	testing.TB
	told []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.told = append(r.told, fmt.Sprintf(format, args...))
}

func TestRecord(t *testing.T) {
	var r recorder
	Record[[8]uint64](&r, 64)
	if len(r.told) != 0 {
		t.Error(r.told)
	}
	Record[[9]uint64](&r, 64)
	Record[inner](&r, 64)
	if want := []string{"[9]uint64 has 72 bytes, at most 64", "small.inner has a pointer: word.string"}; !reflect.DeepEqual(r.told, want) {
		t.Errorf("%q, want %q", r.told, want)
	}
}
