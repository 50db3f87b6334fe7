package park

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// twin is the table as anybody would write it: a map, and everything by name.
type twin struct {
	limit int
	all   map[Key]*kept
}

type kept struct {
	i          uint32
	syn        Syn
	hop        uint16
	since      int64
	last, gap  int64 // milliseconds
	expected   bool
	iss, tsval uint32
	mark       uint32 // what the owner wrote
}

// repeat is Repeat's rule.
func (r *kept) repeat(s Syn, hop uint16, now int64) {
	now /= ms
	passed := now - r.last
	o, p := &s.Options, &r.syn.Options
	if passed < apart && o.TS == p.TS && o.TSVal == p.TSVal {
		return
	}
	if passed >= apart {
		r.gap = max(r.gap, min((passed+3)/4*4, 4*math.MaxUint16))
	}
	r.syn, r.hop, r.last = s, hop, now
}

func (r *kept) silent(now int64) bool {
	return r.expected && now/ms-r.last >= max(4000, 7*r.gap)
}

// machine drives the table and its twin side by side.
type machine struct {
	*Table
	twin
	now  int64
	mark uint32
	keys *rapid.Generator[Key]
	syns *rapid.Generator[Syn]
}

func (m *machine) drawRecord(t *rapid.T) (Key, *kept) {
	if len(m.all) == 0 {
		t.Skip("empty")
	}
	keys := slices.SortedFunc(maps.Keys(m.all), func(a, b Key) int { return int(m.all[a].i) - int(m.all[b].i) })
	k := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "record")]
	return k, m.all[k]
}

func (m *machine) add(t *rapid.T, k Key, s Syn, hop uint16) {
	if i := m.Find(&k); i != 0 {
		if m.all[k] == nil || m.all[k].i != i {
			t.Fatalf("%v: record %d found, should not be there", k, i)
		}
		return
	}
	if m.all[k] != nil {
		t.Fatalf("%v: not found", k)
	}
	i, ok := m.Add(&k, &s, hop, m.now)
	if ok != (len(m.all) < m.limit) {
		t.Fatalf("Add says %v with %d records of %d", ok, len(m.all), m.limit)
	}
	if !ok {
		return
	}
	r := m.At(i)
	if r.Slot != 0 || r.Gen != 0 || r.Position != 0 || r.State != 0 || r.Mark != 0 {
		t.Fatalf("record %d is not zeroed: %+v", i, *r)
	}
	m.mark++
	r.Slot = m.mark
	m.all[k] = &kept{i: i, syn: s, hop: hop, since: m.now, last: m.now / ms, expected: true, mark: m.mark}
}

func (m *machine) Add_(t *rapid.T) {
	m.add(t, m.keys.Draw(t, "key"), m.syns.Draw(t, "syn"), rapid.Uint16().Draw(t, "hop"))
}

// Burst adds many, so that buckets are split and rows filled.
func (m *machine) Burst(t *rapid.T) {
	base, s := m.keys.Draw(t, "key"), m.syns.Draw(t, "syn")
	for n := range rapid.IntRange(1, 9000).Draw(t, "n") {
		k := base
		k.Port += uint16(n)
		m.add(t, k, s, 0)
	}
}

// Lull frees most of them.
func (m *machine) Lull(t *rapid.T) {
	every := rapid.IntRange(1, 40).Draw(t, "every")
	for k, r := range m.all {
		if r.i%uint32(every) == 0 {
			continue
		}
		m.Table.Free(r.i)
		delete(m.all, k)
	}
}

func (m *machine) Repeat_(t *rapid.T) {
	k, r := m.drawRecord(t)
	s, hop := m.syns.Draw(t, "syn"), rapid.Uint16().Draw(t, "hop")
	s.Seq = r.syn.Seq
	r.repeat(s, hop, m.now)
	m.Repeat(m.Find(&k), &s, hop, m.now)
}

func (m *machine) Free_(t *rapid.T) {
	k, r := m.drawRecord(t)
	m.Table.Free(r.i)
	delete(m.all, k)
}

func (m *machine) Expect_(t *rapid.T) {
	_, r := m.drawRecord(t)
	r.expected = rapid.Bool().Draw(t, "on")
	m.Expect(r.i, r.expected, m.now)
}

func (m *machine) Prove_(t *rapid.T) {
	_, r := m.drawRecord(t)
	r.iss, r.tsval, r.expected = rapid.Uint32().Draw(t, "iss"), rapid.Uint32().Draw(t, "tsval"), false
	m.Prove(r.i, r.iss, r.tsval)
}

func (m *machine) Wait(t *rapid.T) {
	m.now += rapid.Int64Range(0, 20*second).Draw(t, "for")
}

// Silence walks once over all, in portions; of those that are gone some stay.
func (m *machine) Silence(t *rapid.T) {
	budget := rapid.IntRange(1, 700).Draw(t, "budget")
	leave := rapid.Uint32Range(1, 5).Draw(t, "leave")
	told := map[uint32]bool{}
	gone := func(i uint32) {
		if told[i] {
			t.Fatalf("%d told of twice in one walk", i)
		}
		told[i] = true
		if i%leave == 0 {
			k := m.Table.Key(i)
			if m.all[k] == nil || !m.all[k].silent(m.now) {
				t.Fatalf("%v is not silent", k)
			}
			delete(m.all, k)
			m.Table.Free(i)
		}
	}
	want := map[uint32]bool{}
	for _, r := range m.all {
		if r.silent(m.now) {
			want[r.i] = true
		}
	}
	for !m.Table.Silent(m.now, budget, gone) {
	}
	if !maps.Equal(told, want) {
		t.Fatalf("%d were called silent, should be %d", len(told), len(want))
	}
}

// check is after each step.
func (m *machine) check(t *rapid.T) {
	if m.Len() != len(m.all) {
		t.Fatalf("%d records, should be %d", m.Len(), len(m.all))
	}
	seen := 0
	for i := m.Next(0); i != 0; i = m.Next(i) {
		seen++
		m.checkRecord(t, i)
	}
	if seen != len(m.all) {
		t.Fatalf("Next goes over %d records of %d", seen, len(m.all))
	}
}

func (m *machine) checkRecord(t *rapid.T, i uint32) {
	k := m.Table.Key(i)
	want := m.all[k]
	if want == nil || want.i != i || m.Find(&k) != i {
		t.Fatalf("%v: record %d is found as %d, should be %+v", k, i, m.Find(&k), want)
	}
	r, iss, tsval := m.At(i), uint32(0), uint32(0)
	iss, tsval = m.Told(i)
	if r.Hop != want.hop || r.Since != want.since || r.Slot != want.mark || iss != want.iss || tsval != want.tsval {
		t.Fatalf("record %d is %+v, should be %+v", i, *r, *want)
	}
	if heard := m.Heard(i, m.now) / ms; heard != want.last || int64(r.gap)*gapUnit != want.gap {
		t.Fatalf("record %d was heard at %d ms, gap %d ms, should be %+v", i, heard, int(r.gap)*gapUnit, *want)
	}
	got := m.Syn(i, m.now)
	got.Options.TSVal, want.syn.Options.TSEcr = want.syn.Options.TSVal, 0 // aging has its own tests
	if got != want.syn {
		t.Fatalf("record %d says %+v, should be %+v", i, got, want.syn)
	}
}

func keysDrawn() *rapid.Generator[Key] {
	return rapid.Custom(func(t *rapid.T) Key {
		k := Key{Port: rapid.Uint16().Draw(t, "port"), Virtual: rapid.Uint16Range(0, 2).Draw(t, "virtual")}
		if rapid.Bool().Draw(t, "v4") {
			k.Peer = addr4(rapid.Uint32Range(0, 3).Draw(t, "ip"))
			return k
		}
		k.Peer = frame.Addr{0: rapid.ByteRange(0, 1).Draw(t, "hi"), 15: rapid.ByteRange(0, 2).Draw(t, "lo")}
		return k
	})
}

func synsDrawn() *rapid.Generator[Syn] {
	return rapid.Custom(func(t *rapid.T) Syn {
		s := Syn{Seq: rapid.Uint32().Draw(t, "seq"), Window: rapid.Uint16().Draw(t, "window")}
		o := &s.Options
		o.MSS, o.WS = rapid.Uint16().Draw(t, "mss"), rapid.Int8Range(-1, 14).Draw(t, "ws")
		o.SACK, o.TS = rapid.Bool().Draw(t, "sack"), rapid.Bool().Draw(t, "ts")
		if o.TS {
			o.TSVal, o.TSEcr = rapid.Uint32().Draw(t, "tsval"), rapid.Uint32().Draw(t, "tsecr")
		}
		return s
	})
}

func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{3, 1000, 40_000}).Draw(t, "most")
		m := &machine{
			Table: New(most, rapid.Uint64().Draw(t, "seed")),
			twin:  twin{limit: most, all: map[Key]*kept{}},
			now:   rapid.Int64Range(0, 1<<54).Draw(t, "start"),
			keys:  keysDrawn(), syns: synsDrawn(),
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "add": m.Add_, "add more": m.Add_, "burst": m.Burst, "lull": m.Lull, "repeat": m.Repeat_,
			"free": m.Free_, "expect": m.Expect_, "prove": m.Prove_, "wait": m.Wait, "silence": m.Silence,
		})
	})
}

// Tables that grow and shrink between nothing and 60,000 find all they have.
func TestGrowAndShrink(t *testing.T) {
	table := New(1<<20, 7)
	has := map[uint32]bool{}
	next := uint32(0)
	for round, to := range []int{60_000, 100, 30_000, 0, 5_000, 4_000, 60_000, 0} {
		for len(has) < to {
			k, s := key4(next), linux(next, 0)
			if next%3 == 0 {
				k = key6(next)
			}
			table.Add(&k, &s, 1, 0)
			has[next] = true
			next++
		}
		for n := range has {
			if len(has) <= to {
				break
			}
			k := key4(n)
			if n%3 == 0 {
				k = key6(n)
			}
			table.Free(table.Find(&k))
			delete(has, n)
		}
		if err := allThere(table, has); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if n := table.annex.Used(); n != 0 {
		t.Errorf("%d addresses are left over", n)
	}
	if table.buckets.Sparse(0) {
		t.Error("more than the fewest buckets for nothing")
	}
}

func allThere(table *Table, has map[uint32]bool) error {
	for n := range has {
		k := key4(n)
		if n%3 == 0 {
			k = key6(n)
		}
		if i := table.Find(&k); i == 0 || table.Seq(i) != n {
			return fmt.Errorf("record %d is not there", n)
		}
	}
	if table.Len() != len(has) {
		return fmt.Errorf("%d records, should be %d", table.Len(), len(has))
	}
	return nil
}
