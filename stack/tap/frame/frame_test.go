package frame

import "testing"

// An address comes back from a word whatever is in the bits above it.
func TestMACWord(t *testing.T) {
	for _, m := range []MAC{{}, Broadcast, {2, 0, 0x5e, 0x10, 0xfe, 1}} {
		w := m.Word()
		if w>>48 != 0 || MACOf(w) != m || MACOf(w|0xffff<<48) != m {
			t.Errorf("%v is %#x, which is %v", m, w, MACOf(w))
		}
	}
}
