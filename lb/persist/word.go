package persist

// Tick is a moment in monotonic nanoseconds, not below 0.
type Tick = int64

// unit is how exact the time of a record's last use is.
const unit Tick = 100e6

// A word is what a record says: member, the generation of its number, and the
// stamp of its last use, 16, 16 and 32 bits. No word of a record is 0.
type word uint64

func wordOf(m Member, stamp uint32) word {
	return word(m.ID)<<48 | word(m.Gen)<<32 | word(stamp)
}

func (w word) member() Member { return Member{ID: uint16(w >> 48), Gen: uint16(w >> 32)} }

func (w word) stamp() uint32 { return uint32(w) }

// used returns the word marked used. Time goes only forward: a loop whose
// clock is behind doesn't undo what another one wrote.
func (w word) used(stamp uint32) word {
	if since(stamp, w.stamp()) <= 0 {
		return w
	}
	return wordOf(w.member(), stamp)
}

// stampOf counts units, from 1. It goes round after 13 years.
func stampOf(now Tick) uint32 { return max(1, uint32(now/unit+1)) }

// since returns the units from then to now, below 0 if then comes later.
func since(now, then uint32) int32 { return int32(now - then) }

// wish is what a caller wants done with a record.
type wish struct {
	kind   kind
	want   Member
	from   Member            // of a move
	usable func(Member) bool // of a claim
}

type kind uint8

const (
	find  kind = iota // mark it used
	claim             // mark it used, or give it to want if there is none or it isn't usable
	move              // give it to want if from has it
	carry             // leave it as it is
)

// next returns what the record should say, from what it says now; 0 is no
// record.
func (w *wish) next(now word, stamp uint32) word {
	switch {
	case w.kind == claim && now == 0:
		return wordOf(w.want, stamp)
	case now == 0 || w.kind == carry:
		return now
	case w.passes(now.member()):
		return wordOf(w.want, now.stamp()).used(stamp)
	case w.kind == move:
		return now
	}
	return now.used(stamp)
}

// passes says if the record goes from m to want.
func (w *wish) passes(m Member) bool {
	return w.kind == claim && !w.usable(m) || w.kind == move && (m == w.from || m == w.want)
}
