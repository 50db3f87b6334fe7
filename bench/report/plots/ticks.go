package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// naming says how the values of an axis are written.
type naming func(x float64) string

// micros names a time given in µs: 1 µs, 20 ms, 5 s.
func micros(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 1e3:
		return plain(x) + " µs"
	case x < 1e6:
		return plain(x/1e3) + " ms"
	}
	return plain(x/1e6) + " s"
}

// number names a number without an exponent: 0.05, 200, 1k, 2.5k, 3M.
func number(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e9:
		return plain(x/1e9) + "G"
	case size >= 1e6:
		return plain(x/1e6) + "M"
	case size >= 1e3:
		return plain(x/1e3) + "k"
	}
	return plain(x)
}

// plain writes what is left of rounding errors: 0.30000000000000004 is 0.3.
func plain(x float64) string {
	text := strconv.FormatFloat(x, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// logTicks marks decades, and the more of what lies between the fewer they are.
type logTicks struct{ naming }

func (t logTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	named := between(math.Log10(most / least))
	for decade := math.Pow10(int(math.Floor(math.Log10(least)))); decade <= most*1.001; decade *= 10 {
		for digit := 1.0; digit < 10; digit++ {
			x := digit * decade
			if x < least*0.999 || x > most*1.001 {
				continue
			}
			tick := plot.Tick{Value: x}
			if slices.Contains(named, digit) {
				tick.Label = t.naming(x)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// between are the digits that have names on an axis of so many decades.
func between(decades float64) []float64 {
	switch {
	case decades < 0.8:
		return []float64{1, 2, 3, 4, 5, 7}
	case decades < 1.5:
		return []float64{1, 2, 3, 5}
	case decades < 3.2:
		return []float64{1, 2, 5}
	}
	return []float64{1}
}

// evenTicks marks about so many even steps of 1, 2 or 5 times a power of ten.
type evenTicks struct {
	naming
	about int
}

func (t evenTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	step := even((most - least) / float64(t.about))
	for i := math.Ceil(least/step - 1e-9); i*step <= most+step*1e-9; i++ {
		x := i*step + 0 // a zero has no sign
		ticks = append(ticks, plot.Tick{Value: x, Label: t.naming(x)})
	}
	return ticks
}

// even is the step of 1, 2 or 5 times a power of ten that is not smaller.
func even(step float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*unit >= step*(1-1e-9) {
			return digit * unit
		}
	}
	return 10 * unit
}

// tail is the place of a share on an axis that gives each nine of it the same
// room: 0.9 is at 1, 0.99 at 2, 0.999 at 3.
func tail(share float64) float64 { return -math.Log10(1 - share) }

// tailTicks names shares on such an axis.
type tailTicks struct{}

func (tailTicks) Ticks(_, most float64) (ticks []plot.Tick) {
	for _, percent := range []float64{0, 50, 90, 99, 99.9, 99.99, 99.999} {
		if at := tail(percent / 100); at <= most+1e-9 {
			ticks = append(ticks, plot.Tick{Value: at, Label: plain(percent) + " %"})
		}
	}
	return ticks
}
