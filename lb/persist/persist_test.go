package persist

import (
	"fmt"
	"math/bits"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

const second Tick = 1e9

// v4 is a source as it comes: v4-mapped.
func v4(addr uint32) (hi, lo uint64) { return 0, 0xffff<<32 | uint64(addr) }

func always(Member) bool { return true }

func (t *Table) claim4(now Tick, addr uint32, id uint16) uint16 {
	hi, lo := v4(addr)
	return t.Claim(now, hi, lo, Member{ID: id}, always).ID
}

func (t *Table) find4(now Tick, addr uint32) (uint16, bool) {
	hi, lo := v4(addr)
	m, ok := t.Find(now, hi, lo)
	return m.ID, ok
}

func TestSlotIs16Bytes(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n != 16 {
		t.Errorf("slot has %d bytes", n)
	}
	if n := unsafe.Sizeof(segment{}); n != 16<<10 {
		t.Errorf("segment has %d bytes", n)
	}
}

func TestPrefixes(t *testing.T) {
	for _, c := range []struct {
		v4, v6       int
		hi, lo       uint64
		cutHi, cutLo uint64
	}{
		{32, 128, 0, 0xffff_c0000201, 0, 0xffff_c0000201},
		{24, 128, 0, 0xffff_c0000201, 0, 0xffff_c0000200},
		{0, 128, 0, 0xffff_c0000201, 0, 0xffff_00000000},
		{24, 128, 0x20010db8_00000001, 0x12, 0x20010db8_00000001, 0x12},
		{24, 64, 0x20010db8_00000001, 0x12, 0x20010db8_00000001, 0},
		{24, 32, 0x20010db8_00000001, 0x12, 0x20010db8_00000000, 0},
		{24, 127, 0, 1, 0, 0}, // ::1 is no IPv4 address
		{24, 0, 1 << 63, 1, 0, 0},
	} {
		p := prefixesOf(c.v4, c.v6)
		if hi, lo := p.cut(c.hi, c.lo); hi != c.cutHi || lo != c.cutLo {
			t.Errorf("/%d /%d of %x %x: %x %x", c.v4, c.v6, c.hi, c.lo, hi, lo)
		}
	}
}

// A table whose seed is another one has its sources elsewhere.
func TestHashDependsOnAll(t *testing.T) {
	a, b := New(1, 32, 128, second), New(2, 32, 128, second)
	differ := func(what string, x, y uint64) {
		t.Helper()
		if n := bits.OnesCount64(x ^ y); n < 10 || n > 54 {
			t.Errorf("%s: %d bits differ", what, n)
		}
	}
	for i := range 64 {
		differ("seed", a.hash(1<<i, 7), b.hash(1<<i, 7))
		differ("hi", a.hash(1<<i, 7), a.hash(0, 7))
		differ("lo", a.hash(5, 1<<i), a.hash(5, 0))
	}
}

func TestRecordsExpire(t *testing.T) {
	for _, timeout := range []Tick{second / 10, second, 180 * second} {
		for used := 7 * second; used < 7*second+3*unit; used += unit / 3 {
			tab := New(1, 32, 128, timeout)
			tab.claim4(used, 1, 5)
			if id, ok := tab.find4(used+timeout, 1); !ok || id != 5 {
				t.Errorf("timeout %d: gone before", timeout)
			}
			tab = New(1, 32, 128, timeout)
			tab.claim4(used, 1, 5)
			if _, ok := tab.find4(used+timeout+unit, 1); ok {
				t.Errorf("timeout %d: there 100 ms after", timeout)
			}
		}
	}
}

func TestUseKeepsARecord(t *testing.T) {
	tab := New(1, 32, 128, second)
	hi, lo := v4(1)
	tab.claim4(0, 1, 5)
	for i := range Tick(1000) {
		now := i * second * 9 / 10
		switch i % 3 {
		case 0:
			tab.Find(now, hi, lo)
		case 1:
			tab.claim4(now, 1, 6)
		case 2:
			tab.Move(now, hi, lo, Member{ID: 5}, Member{ID: 5})
		}
		if id, ok := tab.find4(now, 1); !ok || id != 5 {
			t.Fatalf("use %d: member %d, %v", i, id, ok)
		}
	}
}

// What a loop with a late clock writes does not shorten a record's life.
func TestClocksBehind(t *testing.T) {
	tab := New(1, 32, 128, second)
	tab.claim4(100*second, 1, 5)
	tab.claim4(99*second+second/2, 1, 6)
	if id, ok := tab.find4(101*second, 1); !ok || id != 5 {
		t.Errorf("member %d, %v", id, ok)
	}
}

func TestSetTimeout(t *testing.T) {
	tab := New(1, 32, 128, 100*second)
	tab.claim4(0, 1, 5)
	tab.SetTimeout(10 * second)
	if _, ok := tab.find4(20*second, 1); ok {
		t.Error("there after the shorter timeout")
	}
	tab.SetTimeout(100 * second)
	if _, ok := tab.find4(20*second, 1); !ok {
		t.Error("gone before the longer timeout")
	}
	for timeout, units := range map[Tick]int32{0: 1, -5: 1, 1: 1, unit: 1, unit + 1: 2, 1 << 62: 1<<30 - 1} {
		if tab.SetTimeout(timeout); tab.timeout.Load() != units {
			t.Errorf("timeout %d is %d units, want %d", timeout, tab.timeout.Load(), units)
		}
	}
}

// twin is what a Table should do, in the simplest way.
type twin struct {
	records map[string]record
	timeout Tick // units
}

type record struct {
	Member
	used Tick // units
}

func (w *twin) get(now Tick, key string) (record, bool) {
	r, ok := w.records[key]
	return r, ok && now/unit-r.used <= w.timeout
}

func (w *twin) put(now Tick, key string, m Member) { w.records[key] = record{m, now / unit} }

// pair is a Table and its twin, with which the same is done.
type pair struct {
	*Table
	*twin
	now Tick
}

// check does things at random, while time passes and generations come and go.
func check(t *rapid.T) {
	timeout := rapid.Int64Range(1, 40).Draw(t, "timeout")
	p := &pair{
		Table: New(rapid.Uint64().Draw(t, "seed"), 24, 64, timeout*unit),
		twin:  &twin{records: map[string]record{}, timeout: timeout},
		now:   rapid.Int64Range(0, 1<<40).Draw(t, "start"),
	}
	for range rapid.IntRange(1, 200).Draw(t, "steps") {
		switch rapid.SampledFrom([]string{"find", "claim", "move", "pass", "front", "drain"}).Draw(t, "step") {
		case "find":
			p.find(t)
		case "claim":
			p.claim(t)
		case "move":
			p.move(t)
		case "pass":
			p.now += rapid.Int64Range(0, timeout*unit*3/2).Draw(t, "time")
		case "front":
			if l := p.list.Load(); len(l.older) < 4 { // more would be so large that Len takes samples
				p.putInFront(l, stampOf(p.now))
			}
		case "drain":
			for range rapid.IntRange(1, 200).Draw(t, "drains") {
				p.drain(stampOf(p.now))
			}
		}
		p.compareLen(t)
	}
}

var members = rapid.Custom(func(t *rapid.T) Member {
	return Member{rapid.Uint16Range(0, 3).Draw(t, "id"), rapid.Uint16Range(0, 1).Draw(t, "gen")}
})

func (p *pair) find(t *rapid.T) {
	key, hi, lo := source(t)
	r, live := p.get(p.now, key)
	got, ok := p.Find(p.now, hi, lo)
	if ok != live || ok && got != r.Member {
		t.Fatalf("find %s: %v %v, want %v %v", key, got, ok, r.Member, live)
	}
	if live {
		p.put(p.now, key, r.Member)
	}
}

func (p *pair) claim(t *rapid.T) {
	key, hi, lo := source(t)
	want, bad := members.Draw(t, "member"), members.Draw(t, "bad")
	had := want
	if r, live := p.get(p.now, key); live && r.Member != bad {
		had = r.Member
	}
	if got := p.Claim(p.now, hi, lo, want, func(m Member) bool { return m != bad }); got != had {
		t.Fatalf("claim %s: %v, want %v", key, got, had)
	}
	p.put(p.now, key, had)
}

func (p *pair) move(t *rapid.T) {
	key, hi, lo := source(t)
	from, to := members.Draw(t, "from"), members.Draw(t, "to")
	r, live := p.get(p.now, key)
	want := live && (r.Member == from || r.Member == to)
	if got := p.Move(p.now, hi, lo, from, to); got != want {
		t.Fatalf("move %s: %v, want %v", key, got, want)
	}
	if want {
		p.put(p.now, key, to)
	}
}

func (p *pair) compareLen(t *rapid.T) {
	n := 0
	for key := range p.records {
		if _, live := p.get(p.now, key); live {
			n++
		}
	}
	if got := p.Len(p.now); got != n {
		t.Fatalf("%d records, want %d", got, n)
	}
}

// source draws one of a few, in several of its addresses.
func source(t *rapid.T) (key string, hi, lo uint64) {
	n, host := rapid.Uint64Range(0, 5).Draw(t, "source"), rapid.Uint64Range(0, 255).Draw(t, "host")
	if rapid.Bool().Draw(t, "v4") {
		return fmt.Sprint("v4 ", n), 0, 0xffff<<32 | n<<8 | host
	}
	return fmt.Sprint("v6 ", n), n << 8, host << 40
}

func TestTwin(t *testing.T) { rapid.Check(t, check) }

func TestNothingIsAllocated(t *testing.T) {
	tab := New(1, 32, 128, 180*second)
	hi, lo := v4(1)
	tab.claim4(0, 1, 5)
	var now Tick
	bad := Member{ID: 9}
	for name, f := range map[string]func(){
		"Find":  func() { tab.Find(now, hi, lo) },
		"Claim": func() { tab.Claim(now, hi, lo, Member{ID: 5}, func(m Member) bool { return m != bad }) },
		"Move":  func() { tab.Move(now, hi, lo, Member{ID: 5}, Member{ID: 5}) },
		"miss":  func() { tab.Find(now, hi, lo+1) },
	} {
		if n := testing.AllocsPerRun(1000, func() { now += unit / 5; f() }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
