// Package small fails a test if a record, of which there may be millions, is larger
// than it should be, or has pointers in it, for which the garbage collector would look
// through all of them:
//
//	func TestRecords(t *testing.T) { small.Record[client](t, 64) }
//
// And if a table takes more for each than it should, or than it says:
//
//	table := small.Each(t, 1_000_000, 64, func() *Table { ... })
package small

import (
	"reflect"
	"runtime"
	"testing"
)

// Record is for records of type T, which should take so many bytes at most.
func Record[T any](t testing.TB, most uintptr) {
	t.Helper()
	ty := reflect.TypeFor[T]()
	if ty.Size() > most {
		t.Errorf("%v has %d bytes, at most %d", ty, ty.Size(), most)
	}
	if path, found := pointerIn(ty); found {
		t.Errorf("%v has a pointer: %s", ty, path)
	}
}

// pointerIn finds what has a pointer in it. The path to it ends with its type.
func pointerIn(ty reflect.Type) (path string, found bool) {
	switch k := ty.Kind(); {
	case k <= reflect.Complex128: // bool and all numbers
		return "", false
	case k == reflect.Array:
		return pointerIn(ty.Elem())
	case k == reflect.Struct:
		for i := range ty.NumField() {
			f := ty.Field(i)
			if path, found := pointerIn(f.Type); found {
				return f.Name + "." + path, true
			}
		}
		return "", false
	}
	return ty.String(), true
}

// Each is for a table of n records, which fill makes. Each record should take so many
// bytes at most, with its part of all that the table has, and Bytes should say so much,
// to one in a hundred.
func Each[T interface{ Bytes() int }](t testing.TB, n int, most float64, fill func() T) T {
	t.Helper()
	before := heap()
	table := fill()
	each, told := float64(heap()-before)/float64(n), float64(table.Bytes())/float64(n)
	t.Logf("%.2f bytes each, %.2f by Bytes", each, told)
	if each > most || told < each*0.99 || told > each*1.01 {
		t.Errorf("%.2f bytes each, %.2f by Bytes, at most %.0f", each, told, most)
	}
	return table
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
