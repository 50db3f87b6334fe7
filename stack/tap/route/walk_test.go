package route

import (
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// Whatever is asked, heard and waited for: an address is the last that was
// heard, it is not given up before three questions to it alone, nobody has
// failed before three questions to all, and no two questions come within a gap
// unless something was heard between them.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(Config{Own: us, MAC: own})
		n, _ := r.Hop(&server)
		var (
			now, last    int64 = second, 0
			lastHeard    frame.MAC
			alone, toAll int // questions since something was heard
		)
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				b, due := r.Ask(n, now, nil)
				if due <= now {
					t.Fatalf("due at %d, and it is %d", due, now)
				}
				if len(b) == 0 {
					return
				}
				if now-last < gap {
					t.Fatalf("asked again after %d", now-last)
				}
				last = now
				if frame.MAC(b[:6]) == frame.Broadcast {
					toAll++
				} else {
					alone++
				}
			},
			"hear": func(t *rapid.T) {
				lastHeard = frame.MAC{2, 9, rapid.Byte().Draw(t, "mac")}
				r.Heard(&server, lastHeard, now)
				last, alone, toAll = 0, 0, 0
			},
			"doubt": func(*rapid.T) { r.Doubt(n, now) },
			"wait": func(t *rapid.T) {
				now += rapid.SampledFrom([]int64{ms, 100 * ms, gap, second, 4 * second, 31 * second}).Draw(t, "time")
			},
			"": func(t *rapid.T) {
				m, ok := r.MAC(n, now)
				if ok && m != lastHeard || !ok && lastHeard != (frame.MAC{}) && alone < tries {
					t.Fatalf("at %v, %v; last heard %v, %d questions since", m, ok, lastHeard, alone)
				}
				if r.Failed(n, now) && (ok || toAll < tries) {
					t.Fatalf("failed after %d questions to all, known: %v", toAll, ok)
				}
			},
		})
	})
}
