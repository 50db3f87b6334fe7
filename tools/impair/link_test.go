package impair

import (
	"encoding/binary"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// through sends n numbered frames over a link, one a millisecond, and returns
// the numbers in the order in which they come, and what the link counts.
func through(t *testing.T, n int, f Faults) (order []int, c Counts, first time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, a := net.Pipe()
		b, out := net.Pipe()
		l := Join(a, b, f)
		begun := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for b := make([]byte, 100); ; {
				if _, err := out.Read(b); err != nil {
					return
				}
				if order == nil {
					first = time.Since(begun)
				}
				order = append(order, int(binary.BigEndian.Uint32(b)))
			}
		}()
		for i := range n {
			in.Write(binary.BigEndian.AppendUint32(nil, uint32(i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(f.Delay + f.Late + time.Second)
		l.Close()
		out.Close()
		in.Close()
		<-done
		c, _ = l.Counts()
	})
	return order, c, first
}

func TestFaultless(t *testing.T) {
	order, c, first := through(t, 500, Faults{Delay: 20 * time.Millisecond})
	for i, n := range order {
		if i != n {
			t.Fatalf("frame %d is %d", i, n)
		}
	}
	if len(order) != 500 || c.Frames != 500 || c.Bytes != 2000 || first != 20*time.Millisecond {
		t.Errorf("%d frames, %+v, the first after %v", len(order), c, first)
	}
}

// Each fault is as often as it should be, and as often as it is counted.
func TestFaults(t *testing.T) {
	const n = 10_000
	f := Faults{Loss: 0.1, Repeat: 0.05, Reorder: 0.02, Late: 5 * time.Millisecond, Delay: time.Millisecond, Seed: 3}
	order, c, _ := through(t, n, f)
	seen := map[int]int{}
	late, last := 0, -1
	for _, i := range order {
		seen[i]++
		if i < last {
			late++
		}
		last = max(last, i)
	}
	twice := 0
	for _, k := range seen {
		twice += k - 1
	}
	if lost := n - len(seen); uint64(lost) != c.Lost || lost < n/10*9/10 || lost > n/10*11/10 {
		t.Errorf("%d lost, %d counted", lost, c.Lost)
	}
	if uint64(twice) != c.Repeated || twice < n/20*7/10 || twice > n/20*11/10 {
		t.Errorf("%d come twice, %d counted", twice, c.Repeated)
	}
	if uint64(late) > c.Reordered || late < n/50*7/10 {
		t.Errorf("%d come late, %d counted", late, c.Reordered)
	}
}

// The same seed, the same fate.
func TestSeed(t *testing.T) {
	f := Faults{Loss: 0.1, Repeat: 0.1, Reorder: 0.1, Late: 3 * time.Millisecond, Seed: 7}
	one, _, _ := through(t, 1000, f)
	two, _, _ := through(t, 1000, f)
	if len(one) != len(two) {
		t.Fatalf("%d and %d frames", len(one), len(two))
	}
	for i := range one {
		if one[i] != two[i] {
			t.Fatalf("frame %d: %d and %d", i, one[i], two[i])
		}
	}
}

func TestNoRoom(t *testing.T) {
	order, c, _ := through(t, 100, Faults{Delay: time.Second, Room: 10})
	if len(order) != 10 || c.Crowded != 90 {
		t.Errorf("%d frames, %+v", len(order), c)
	}
}

// Both kinds of ends are there, or say why not.
func TestEnds(t *testing.T) {
	if _, err := OpenPacket("no-such-device"); err == nil {
		t.Error("no error")
	}
	f, err := OpenTAP("pn7-impair")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	p, err := OpenPacket("pn7-impair")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := net.InterfaceByName("pn7-impair"); err != nil {
		t.Error(err)
	}
	p.SetReadDeadline(time.Now())
	if _, err := p.Read(make([]byte, 100)); !os.IsTimeout(err) {
		t.Errorf("an idle end: %v", err)
	}
}
