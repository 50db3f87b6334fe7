package top

import (
	"fmt"
	"time"

	"penstock/lb/control/ctl"
)

// view is what is known and what of it is wanted on the screen.
type view struct {
	address  string
	interval time.Duration
	live     bool // there are keys

	now             time.Time
	current, before *sample // before is nil at first
	failed          error   // what came of the last look, if nothing

	chosen string // a pool
	paused bool
}

const (
	usualWaiters = 20  // where any number of lines fits
	mostWaiters  = 500 // nobody reads more
)

// waitersWanted is how many may be shown.
func (v *view) waitersWanted(s screen) int {
	_, height := s.size()
	if height == 0 {
		return usualWaiters
	}
	return min(max(height, 1), mostWaiters)
}

func (v *view) isChosen(p ctl.Pool) bool { return p.Name == v.chosen }

// frame is what the screen shows, at most so wide and high. A height of 0 is
// any.
func (v *view) frame(width, height int) []line {
	top := []line{v.title(width)}
	if a := v.alarm(); a != nil {
		top = append(top, a)
	}
	body := height
	if height > 0 {
		body = max(height-len(top), 1)
	}
	var foot line
	if v.live && body > 12 {
		foot = line{{"q quit   p pause   up, down, 1 to 9 choose a pool", note}}
		body--
	}
	lines := append(top, fit(v.sections(width), body)...)
	if foot != nil {
		for len(lines) < height-1 {
			lines = append(lines, line{})
		}
		lines = append(lines, foot)
	}
	for i := range lines {
		lines[i] = lines[i].clip(width)
	}
	if height > 0 {
		lines = lines[:min(len(lines), height)]
	}
	return lines
}

// title leaves words out where there is no room for them.
func (v *view) title(width int) line {
	l := line{{"penstock top", heading}, text("  " + plain(v.address) + "  " + v.current.at.Format("15:04:05"))}
	if len(l.String()) > width { // the time is what changes
		l = line{{"penstock", heading}, text(" " + v.current.at.Format("15:04:05"))}
	}
	if every := fmt.Sprintf("  every %v", v.interval); len(l.String())+len(every) <= width {
		l = append(l, text(every))
	}
	return l
}

// alarm says why the numbers are not those of now.
func (v *view) alarm() line {
	old := v.now.Sub(v.current.at).Round(time.Second)
	switch {
	case v.failed != nil:
		return line{{fmt.Sprintf(" NO ANSWER for %v: %s ", old, plain(v.failed.Error())), alarm}}
	case v.paused:
		return line{{fmt.Sprintf(" PAUSED for %v; p goes on ", old), alarm}}
	case old > max(3*v.interval, 3*time.Second):
		return line{{fmt.Sprintf(" NO ANSWER for %v: these numbers are old ", old), alarm}}
	}
	return nil
}

// sections are in the order of a connection's way.
func (v *view) sections(width int) []section {
	all := []section{v.virtuals(width)}
	if len(v.current.taps) > 0 {
		all = append(all, v.tap(width))
	}
	all = append(all, v.pools(width))
	if at := v.chosenAt(); at >= 0 {
		p := &v.current.pools[at]
		all = append(all, v.members(p, width), v.waiters(p, width))
	}
	return all
}

// table makes a section of a layout.
func table(lines []line, above ...line) section {
	return section{above: append(above, lines[0]), rows: lines[1:]}
}

func (v *view) virtuals(width int) section {
	s := table(layout(v.virtualColumns(), v.current.virtuals, width))
	s.rank = 3
	return s
}

func (v *view) tap(width int) section {
	s := table(layout(v.tapColumns(), v.current.taps, width))
	s.rank = 4
	return s
}

func (v *view) pools(width int) section {
	s := table(layout(v.poolColumns(), v.current.pools, width))
	s.see = max(v.chosenAt(), 0)
	return s
}

func (v *view) members(p *ctl.Pool, width int) section {
	s := table(layout(v.memberColumns(p), p.Members, width), v.summary(p))
	s.rank = 1
	return s
}

// summary is what there is to say of the chosen pool besides its row.
func (v *view) summary(p *ctl.Pool) line {
	l := line{{plain(p.Name), heading}, text(" is "), state(p.State)}
	if p.Reason != "" {
		l = append(l, text("; "+plain(p.Reason)))
	}
	for _, o := range []struct {
		name string
		n    int64
	}{
		{"expired", p.Expired}, {"overflowed", p.Overflowed}, {"no member", p.RefusedNoMember},
		{"refused early", p.Early}, {"shed", p.Shed}, {"flushed", p.Flushed},
	} {
		if o.n > 0 {
			l = append(l, text("; "+o.name+" "), piece{ctl.Count(o.n), warning})
		}
	}
	return l
}

func (v *view) waiters(p *ctl.Pool, width int) section {
	c := v.current
	if c.of != p.Name {
		return section{rank: 2, above: []line{{{"waiters of " + plain(p.Name) + ": not known yet", note}}}}
	}
	if c.waiters.Total == 0 {
		return section{rank: 2, above: []line{{{"nobody waits for " + plain(p.Name), note}}}}
	}
	s := table(layout(waiterColumns, c.waiters.Waiters, width))
	s.unseen = max(c.waiters.Total-int64(len(s.rows)), 0)
	s.rank, s.patient = 2, true
	return s
}
