package proxy

import (
	"reflect"
	"testing"
)

// Records are small, and the garbage collector does not look into them.
func TestRecords(t *testing.T) {
	for _, c := range []struct {
		record reflect.Type
		most   uintptr
	}{
		{reflect.TypeFor[client](), 64},
		{reflect.TypeFor[pair](), 128},
	} {
		if s := c.record.Size(); s > c.most {
			t.Errorf("%v has %d bytes, at most %d", c.record, s, c.most)
		} else {
			t.Logf("%v: %d bytes", c.record, s)
		}
		if path, found := pointerIn(c.record); found {
			t.Errorf("%v has a pointer: %s", c.record, path)
		}
	}
}

// pointerIn finds a field that has a pointer.
func pointerIn(ty reflect.Type) (path string, found bool) {
	switch ty.Kind() {
	case reflect.Struct:
		for i := range ty.NumField() {
			f := ty.Field(i)
			if path, found := pointerIn(f.Type); found {
				return f.Name + "." + path, true
			}
		}
		return "", false
	case reflect.Array:
		return pointerIn(ty.Elem())
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "", false
	default:
		return ty.String(), true
	}
}
